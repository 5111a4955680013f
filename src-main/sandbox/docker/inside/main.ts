/**
 * The engine within a container: the local engine, with the host's calls on standard input and its answers on standard
 * output. It ends with that stream; the sandbox goes on, and is taken hold of by the next engine. Of an ended sandbox
 * nothing is left to go on: the container ends with the engine.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EngineUnavailableError, SandboxNotFoundError } from '../../../contract/index.ts'
import { carryOut, type Request } from '../../calls/index.ts'
import { createLocalProvider, type LocalSandbox, readProcess, signal } from '../../local/index.ts'
import type { RunningCommand } from '../../sandbox.ts'
import { Decoder, encode } from '../frames.ts'
import { type InsideCalls, LACKS, SOURCE, type Taken, VOLUME, WORKSPACE } from '../protocol.ts'
import { AGENT, prepareContainer } from './container.ts'
import { planContainer } from './plan.ts'

/** The sandbox's name within its volume. */
const ID = 'sandbox'
const OLDEST_NODE = 22
/** Which host took hold last. */
const HOST_FILE = join(VOLUME, 'host')
/** Which engine serves the container. */
const ENGINE_FILE = '/rewind/engine.pid'

const { PATH = '', LANG = 'C.UTF-8', HOME: _, HOSTNAME: __, PWD: ___, ...ofTheImage } = process.env

const provider = createLocalProvider({
  home: VOLUME,
  scripts: join(import.meta.dirname, 'scripts'),
  setting: {
    engine: 'docker',
    detail: 'docker',
    workspace: ({ workspace }) => workspace,
    source: () => SOURCE,
    inside: () => WORKSPACE,
    agent: () => AGENT,
    home: () => null,
    plan: planContainer,
    environment: { ...defined(ofTheImage), PATH, LANG },
  },
})

let held: LocalSandbox | null = null

function sandbox(): LocalSandbox {
  if (held === null) throw new SandboxNotFoundError('No sandbox was taken hold of.')
  return held
}

/** @param host null where it only reads */
async function take(taking: () => Promise<LocalSandbox>, host: string | null): Promise<Taken> {
  replaceEarlier()
  if (host !== null) writeFileSync(HOST_FILE, host)
  held = await taking()
  const { facts, losses, restarted, ended, paused } = held
  return { facts, losses: [...losses], restarted, ended, paused }
}

async function command(id: string): Promise<RunningCommand> {
  const found = (await sandbox().commands()).find((one) => one.id === id)
  if (found !== undefined) return found
  throw new EngineUnavailableError(`The command ${id} is no longer known in its sandbox.`)
}

const calls: InsideCalls = {
  hello: async () => {},
  create: (host, spec) => take(() => provider.create({ ...spec, id: ID }), host),
  attach: (host) => take(() => provider.attach(ID), host),
  return: (host) => {
    if (readFileSync(HOST_FILE, 'utf8') === host) return take(() => provider.attach(ID), host)
    throw new EngineUnavailableError('Another host took this sandbox over.', {
      nextStep: 'Ask it what the sandbox is like now: `rewind status`.',
    })
  },
  open: () => take(() => provider.open(ID), null),

  status: () => sandbox().status(),
  pause: () => sandbox().pause(),
  unpause: () => sandbox().unpause(),
  exec: async (spec) => void (await sandbox().exec(spec)),
  commands: async () => (await sandbox().commands()).map(({ id }) => id),
  ended: async (id) => (await sandbox().commands()).find((one) => one.id === id)?.ended ?? null,
  read: async (id, stream, offset, limit) => (await command(id)).read(stream, offset, limit),
  size: async (id, stream) => (await command(id)).size(stream),
  type: async (id, bytes) => (await command(id)).type(bytes),
  resize: async (id, size) => (await command(id)).resize(size),
  kill: async (id, reason) => (await command(id)).kill(reason),
  discard: async (id) => (await command(id)).collect(null),

  writeFile: (path, content) => sandbox().writeFile(path, content),
  readFile: (path, state) => sandbox().readFile(path, state),
  checkpoint: (operation) => sandbox().checkpoint(operation),
  rollback: (operation, to) => sandbox().rollback(operation, to),
  prune: (kept) => sandbox().prune(kept),
  keepHostEntries: (paths) => sandbox().keepHostEntries(paths),
  usage: () => sandbox().usage(),
  changes: (from, to) => sandbox().changes(from, to),
  pair: (path, from, to, limit) => sandbox().pair(path, from, to, limit),
  meetings: (from, to, paths) => sandbox().meetings(from, to, paths),
  pieces: (state, paths, at, limit) => sandbox().pieces(state, paths, at, limit),
  lastChange: () => sandbox().lastChange(),
  processes: () => sandbox().processes(),
  activity: () => sandbox().activity(),
  endProcess: (key) => sandbox().endProcess(key),
  relay: () => sandbox().relay(),
  end: () => sandbox().end(),
}

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
  process.stderr.write(`node ${OLDEST_NODE} or newer\n`)
  process.exit(LACKS)
}
prepareContainer()
const decoder = new Decoder((message) => {
  void carryOut(calls, message as Request).then((answer) => process.stdout.write(encode(answer)))
})
process.stdin.on('data', (chunk: Buffer) => decoder.push(chunk))
process.stdin.once('close', () => void leave())
process.stdout.on('error', () => void leave())

/** One engine at a time: an earlier one may not have noticed yet that its host is gone. */
function replaceEarlier(): void {
  try {
    const [pid, startTime] = readFileSync(ENGINE_FILE, 'utf8').split(' ')
    if (pid !== String(process.pid) && readProcess(Number(pid))?.startTime === startTime) signal(Number(pid), 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  writeFileSync(ENGINE_FILE, `${process.pid} ${readProcess(process.pid)?.startTime}`)
}

let leaving = false

async function leave(): Promise<void> {
  if (leaving) return
  leaving = true
  try {
    if (held?.ended) signal(1, 'SIGTERM')
    else await held?.detach()
  } finally {
    process.exit(0)
  }
}

function defined(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
