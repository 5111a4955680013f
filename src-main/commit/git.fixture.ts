/** Repositories for the tests of this folder, made with a git that knows no config of the machine's. */
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'

const env = {
  PATH: process.env.PATH,
  LC_ALL: 'C',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
}

export const hasGit = spawnSync('git', ['--version']).status === 0

/** @throws with what git said */
export function run(cwd: string, args: readonly string[], input: string | Buffer = ''): string {
  const options = { cwd, input, env, stdio: ['pipe', 'pipe', 'pipe'], maxBuffer: 1 << 28 } as const
  return execFileSync('git', args, { ...options, stdio: [...options.stdio] }).toString('latin1')
}

/** @returns the folder */
export function makeRepository(folder: string, options: readonly string[] = []): string {
  fs.mkdirSync(folder, { recursive: true })
  run(folder, ['init', '-q', '-b', 'main', ...options])
  return folder
}

export function commitAll(folder: string, message = 'all'): string {
  run(folder, ['add', '-A', '-f'])
  run(folder, ['commit', '-q', '--allow-empty', '-m', message])
  return run(folder, ['rev-parse', 'HEAD']).trim()
}
