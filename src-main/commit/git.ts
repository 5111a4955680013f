/**
 * The host's git, for plumbing alone. What a repository's config or attributes could have it run is switched off, the
 * environment's own GIT_* do not reach it, and no input of ours is ever read as an option or a pattern.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { GitError } from '../contract/index.ts'

/** Given with every call: it wins over every config file. */
const HARMLESS = [
  // Programs that git would start.
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=:',
  'gc.auto=0',
  'maintenance.auto=false',
  // Nothing is fetched from anywhere, also where objects are missing.
  'protocol.allow=never',
  // A person named this folder, whoever owns it.
  'safe.directory=*',
  // An index of ours is one plain file with all entries in it.
  'core.splitIndex=false',
  'core.untrackedCache=false',
  'core.sparseCheckout=false',
  'index.sparse=false',
  'i18n.commitEncoding=UTF-8',
].flatMap((setting) => ['-c', setting])

/** Longest part of what git said that goes into an error. */
const SAID = 2000

export interface GitCall {
  cwd: string
  /** Beside the machine's, without its GIT_*. */
  env?: Record<string, string>
  stdin?: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string> | Readable
  /** Exit codes that are answers; 0 alone by default. */
  answers?: readonly number[]
}

export interface GitAnswer {
  code: number
  stdout: Buffer
}

/** @throws GitError where there is no git, or where it ends otherwise than with an answer: what it said is in `data` */
export async function git(args: readonly string[], { cwd, env = {}, stdin = [], answers = [0] }: GitCall) {
  const child = spawn('git', [...HARMLESS, ...args], { cwd, env: { ...cleanEnvironment(), ...env } })
  const out: Buffer[] = []
  const said: Buffer[] = []
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes))
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes))
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', (error) => reject(notStarted(error, cwd)))
    child.on('close', (code) => resolve(code ?? -1))
  })
  const fed = feed(stdin, child.stdin).catch((error: unknown) => {
    child.kill()
    throw error
  })
  const [code] = await Promise.all([ended, fed])
  if (!answers.includes(code)) throw failed(args, code, Buffer.concat(said).toString('utf8').trim())
  return { code, stdout: Buffer.concat(out) } satisfies GitAnswer
}

/** What git prints of one value, without the end of its line. */
export async function gitValue(args: readonly string[], call: GitCall): Promise<string> {
  return (await git(args, call)).stdout.toString('utf8').replace(/\n$/, '')
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ADVICE: '0',
  }
}

async function feed(pieces: NonNullable<GitCall['stdin']>, to: NodeJS.WritableStream): Promise<void> {
  // Where git ends early it says why itself.
  let open = true
  const closed = finished(to)
    .catch(() => {})
    .finally(() => {
      open = false
    })
  for await (const piece of pieces) {
    if (!open) break
    if (!to.write(piece)) await Promise.race([closed, new Promise((resolve) => to.once('drain', resolve))])
  }
  to.end()
  await closed
}

function notStarted(error: NodeJS.ErrnoException, cwd: string): Error {
  // The same error is given for a folder that is not there.
  if (error.code !== 'ENOENT' || !existsSync(cwd)) return error
  return new GitError('The program git is not installed on this machine.', {
    nextStep: 'Install git, or commit to the workspace without it.',
    data: { reason: 'no-git' },
  })
}

function failed(args: readonly string[], code: number, said: string): GitError {
  const what = args.find((word) => !word.startsWith('-')) ?? ''
  const firstLine = said.split('\n', 1)[0]?.replace(/^(fatal|error): /, '') ?? ''
  return new GitError(`git ${what} failed: ${firstLine || `exit code ${code}`}`, {
    nextStep: 'See what git says about this repository, for example by `git fsck`.',
    data: { reason: 'failed', code, said: said.slice(0, SAID) },
  })
}
