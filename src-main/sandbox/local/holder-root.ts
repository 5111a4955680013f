/** What the holder's own root needs: one static program, or the machine's `sleep` with its loader and libraries. */
import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import type { Programs } from './programs.ts'

export interface HolderFile {
  /** On the host. */
  from: string
  /** In the holder's root. */
  at: string
}

let libraries: HolderFile[] | null = null

export function holderFiles({ busybox, path }: Programs): HolderFile[] {
  if (busybox !== null) return [{ from: busybox, at: '/busybox' }]
  libraries ??= sleepWithLibraries(path)
  return libraries
}

function sleepWithLibraries(path: string): HolderFile[] {
  const env = { PATH: path, LC_ALL: 'C' }
  const sleep = execFileSync('sh', ['-c', 'command -v sleep'], { env, encoding: 'utf8' }).trim()
  const listed = execFileSync('ldd', [sleep], { env, encoding: 'utf8' })
  const files = [...listed.matchAll(/(?:^|\s)(\/\S+)/g)].map(([, file = '']) => ({
    from: realpathSync(file),
    at: file,
  }))
  return [{ from: realpathSync(sleep), at: '/sleep' }, ...files]
}
