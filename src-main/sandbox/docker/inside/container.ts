/** What a container needs before a sandbox can stand in it: done each time that it was started. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, RUN_FOLDER, readMounts } from '../../local/index.ts'
import { WORKSPACE } from '../protocol.ts'
import { HOME, IMAGE, RUNS, SHARED_MEMORY } from './plan.ts'

/** Shown by docker as files of its own, mounted over empty ones of the image. */
const GIVEN = ['resolv.conf', 'hosts', 'hostname']

/** Whom commands run as in every image. */
export const AGENT: Agent = { uid: 1000, gid: 1000 }

/** Before anything is mounted: what is written here is part of the lowest machine layer. */
export function prepareContainer(): void {
  if (readMounts('self').some(({ point }) => point === IMAGE)) return
  mkdirSync(IMAGE, { recursive: true, mode: 0o700 })
  execFileSync('mount', ['--bind', '/', IMAGE])
  for (const [path, mode] of [
    [WORKSPACE, 0o755],
    [HOME, 0o755],
    [RUN_FOLDER, 0o755],
    [RUNS, 0o755],
    [SHARED_MEMORY, 0o1777],
  ] as const) {
    mkdirSync(join(IMAGE, path), { recursive: true })
    chmodSync(join(IMAGE, path), mode)
  }
  chownSync(join(IMAGE, HOME), AGENT.uid, AGENT.gid)
  for (const name of GIVEN) if (existsSync(`/etc/${name}`)) copyFileSync(`/etc/${name}`, join(IMAGE, 'etc', name))
  introduce('passwd', AGENT.uid, `agent:x:${AGENT.uid}:${AGENT.gid}:Agent:${HOME}:/bin/sh\n`)
  introduce('group', AGENT.gid, `agent:x:${AGENT.gid}:\n`)
}

/** git, ssh and initdb want to know who runs them. */
function introduce(file: string, id: number, line: string): void {
  const path = join(IMAGE, 'etc', file)
  const known =
    existsSync(path) &&
    readFileSync(path, 'utf8')
      .split('\n')
      .some((one) => one.split(':')[2] === String(id))
  if (!known) appendFileSync(path, line)
}
