/** Where the package lies, for what is found beside the code: the built window, the headless entry, the version. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import about from '../../package.json' with { type: 'json' }

export const version: string = about.version

/** The package's folder, whether this code runs from the sources or from any depth of the bundle. */
export const packageRoot: string = (() => {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return folder
  }
})()

/** The built window. */
export const rendererFolder: string = join(packageRoot, 'out/renderer')

/** The program of a headless host: the source where this runs from sources, so that no stale build answers. */
export const headlessEntry: string = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, 'main.ts')
  : join(packageRoot, 'out/main/host.js')
