/**
 * Starts a headless host that belongs to nobody: its own session, so that no terminal takes it along, nothing of the
 * caller's environment that could change what it does, and a log instead of somebody's stdout.
 */
import { spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { HostUnavailableError } from '../../contract/errors.ts'
import { ensureHome } from '../home.ts'
import { headlessEntry } from '../package-root.ts'
import { OWNED_BY_ANOTHER } from './exit-codes.ts'

const LOG_BYTES = 1024 * 1024
const TAIL_LINES = 12

export interface HostProcess {
  /** The error to show once it has ended without becoming the host; undefined while there is hope. */
  failed(): HostUnavailableError | undefined
  /** The error to show when it takes too long. */
  late(afterMs: number): HostUnavailableError
}

const kept =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|TZ|TMPDIR|TEMP|TMP|SSL_CERT_FILE|SSL_CERT_DIR|NODE_EXTRA_CA_CERTS|APPDATA|LOCALAPPDATA|SYSTEMROOT|LC_.*|XDG_.*|DOCKER_.*|REWIND_.*|(HTTPS?|NO|ALL)_PROXY)$/i

/** What a host needs of its first client's environment: where things are, how to get out, nothing that loads code. */
export function cleanEnvironment(env: NodeJS.ProcessEnv, home: string): NodeJS.ProcessEnv {
  const clean = Object.fromEntries(
    Object.entries(env).filter(([name]) => kept.test(name) && name !== 'REWIND_SESSION' && name !== 'REWIND_WORKSPACE'),
  )
  return { ...clean, REWIND_HOME: home }
}

/** @throws InvalidPathError when the data folder cannot be used */
export function spawnHost(home: string): HostProcess {
  const folder = ensureHome(home)
  const logFile = join(folder, 'host.log')
  const log = openLog(logFile)
  const startsAt = fstatSync(log).size
  const child = spawn(process.execPath, [headlessEntry], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
    env: cleanEnvironment(process.env, folder),
  })
  closeSync(log)
  child.unref()
  let problem: string | undefined
  child.once('error', (error) => {
    problem = error.message
  })
  child.once('exit', (code, signal) => {
    if (code !== OWNED_BY_ANOTHER) problem ??= `it ended with ${signal ?? `code ${code}`}`
  })
  const error = (what: string) =>
    new HostUnavailableError(`The host could not be started: ${what}.${tailOf(logFile, startsAt)}`, {
      nextStep: `Read ${logFile}, and see what \`rewind doctor\` says.`,
    })
  return {
    failed: () => (problem === undefined ? undefined : error(problem)),
    late: (afterMs) => error(`it did not answer within ${Math.round(afterMs / 1000)} s`),
  }
}

/** The log before is kept once, so that the two together stay bounded. */
function openLog(file: string): number {
  const open = () => openSync(file, 'a', 0o600)
  const log = open()
  if (fstatSync(log).size < LOG_BYTES) return log
  closeSync(log)
  renameSync(file, `${file}.1`)
  return open()
}

/** The last lines that this start wrote. */
function tailOf(file: string, from: number): string {
  const lines = readFileSync(file).subarray(from).toString('utf8').trimEnd().split('\n').slice(-TAIL_LINES)
  return lines.join('').trim() === '' ? '' : `\n${lines.map((line) => `  | ${line}`).join('\n')}`
}
