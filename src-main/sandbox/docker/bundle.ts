/** What is copied into a container: the engine as it was built, and the shell scripts that it works with. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import tar from 'tar-stream'
import { EngineUnavailableError } from '../../contract/index.ts'
import { resourceFolder } from '../resources.ts'
import { OURS } from './protocol.ts'

export interface Bundle {
  /** The program for node, within the container. It says of what content it is: a newer host brings its own. */
  program: string
  /** To be unpacked at the container's /. */
  archive(): NodeJS.ReadableStream
}

let bundle: Bundle | null = null

/** @throws EngineUnavailableError where it was not built */
export function engineBundle(): Bundle {
  bundle ??= readBundle()
  return bundle
}

function readBundle(): Bundle {
  const files = [
    { name: 'package.json', content: Buffer.from('{"type":"module"}') },
    ...filesOf(builtEngine(), '', '.js'),
    ...filesOf(resourceFolder('sandbox'), 'scripts/', '.sh'),
  ]
  const hash = createHash('sha256')
  for (const { name, content } of files) hash.update(`${name}\0${content.length}\0`).update(content)
  const folder = `${OURS}/engine-${hash.digest('hex').slice(0, 12)}`
  return {
    program: `${folder}/engine.js`,
    archive: () => {
      const pack = tar.pack()
      // Relative, as docker wants them.
      for (const path of [OURS, folder, `${folder}/scripts`]) {
        pack.entry({ name: `${path.slice(1)}/`, type: 'directory', mode: 0o700 })
      }
      for (const { name, content } of files) pack.entry({ name: `${folder.slice(1)}/${name}`, mode: 0o600 }, content)
      pack.finalize()
      return pack
    },
  }
}

const filesOf = (folder: string, as: string, extension: string): { name: string; content: Buffer }[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(extension))
    .map((name) => ({ name: as + name, content: readFileSync(join(folder, name)) }))

/** Beside the built host, or at the top of the sources. */
function builtEngine(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const built = join(folder, 'out', 'engine')
    if (existsSync(join(built, 'engine.js'))) return built
  }
  throw new EngineUnavailableError('The part of Rewind that runs in containers is missing from this installation.', {
    nextStep: 'Install Rewind again; in its sources: `npm run build`.',
  })
}
