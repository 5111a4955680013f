/** Commands in the sandbox: run one, wait for one that takes long, read its output part by part, stop it. */
import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type CommandRecord,
  type CommandResult,
  FileNotFoundError,
  fromRpcError,
  InvalidOptionError,
} from '../../contract/index.ts'
import { readWindow, WINDOW } from '../output-window.ts'
import { late, within } from '../pending.ts'
import { type Call, defineTool, type Outcome, type Tool } from '../tool.ts'
import { autoRollbackField, autoRollbackOf, commandLine } from './shapes.ts'

/** Ids of what is pending before there is a session. */
const BEGINS = /^begin-/
const EXECUTE = 'execute_sandbox_command'
/** Between two looks at the output of a command whose progress somebody wants to see, milliseconds. */
const LOOK_MS = 1_000

const commandFields = {
  id: z.string().describe('of the command, for get_command and stop_command'),
  status: z.enum(['running', 'exited', 'timed-out', 'cancelled', 'lost']),
  pending: z.boolean().describe('it still runs: ask again with get_command'),
  code: z.number().nullable(),
  signal: z.string().nullable(),
  duration_ms: z.number(),
  stdout: z.string(),
  stdout_offset: z.number().describe('byte at which stdout begins here; 0 unless earlier output was left out'),
  next_offset: z.number().describe('offset that goes on after this stdout'),
  stderr: z.string(),
  stderr_offset: z.number(),
  next_stderr_offset: z.number(),
  more: z.boolean().describe('there is more output after what is shown'),
  note: z.string().nullable(),
  auto_rollback: autoRollbackField,
}

type CommandData = z.input<z.ZodObject<typeof commandFields>>

const execute = defineTool({
  name: EXECUTE,
  title: 'Run a command in the sandbox',
  description:
    'Runs a command in the sandbox, in the workspace folder. A string goes to sh -c, a list is run without a shell. ' +
    'Nothing it does touches the real project, and all of it can be rewound. A command that takes longer than 50 ' +
    'seconds answers with pending: true; go on with get_command. Of long output the end is shown; get_command reads the rest.',
  input: {
    cmd: commandLine,
    timeout: z.number().positive().optional().describe('seconds after which it is ended with all its children'),
  },
  output: commandFields,
  effect: 'destroys',
  openWorld: true,
  async run(call, { cmd, timeout }) {
    const { host, session, epoch } = call
    const id = await commandId(call, cmd)
    await host.commands.start({
      session,
      epoch,
      id,
      command: cmd,
      timeoutMs: timeout === undefined ? null : timeout * 1000,
      tool: EXECUTE,
    })
    return follow(call, id, null)
  },
})

const get = defineTool({
  name: 'get_command',
  title: 'Go on with what takes long',
  description:
    'The state and output of a command, or the answer of another call that was pending. Waits up to 50 seconds for its ' +
    'end. With an offset the output from that byte on, at most 30,000 bytes of each stream at once.',
  input: {
    id: z.string().min(1).describe('from the answer that was pending'),
    offset: z.number().int().min(0).default(0).describe('byte of stdout to go on from'),
    stderr_offset: z.number().int().min(0).optional().describe('byte of stderr to go on from'),
  },
  output: {
    ...z.object(commandFields).partial().shape,
    id: z.string(),
    pending: z.boolean(),
    result: z.record(z.string(), z.unknown()).optional().describe('the answer of a call that was no command'),
  },
  effect: 'reads',
  standsAlone: ({ id }) => BEGINS.test(id),
  async run(call, { id, offset, stderr_offset }) {
    const work = call.client.pending.get(id)
    if (!work && BEGINS.test(id))
      throw new InvalidOptionError(`Nothing is pending as ${id} any more.`, {
        nextStep: 'Call init_sandbox again: it attaches to the session that was begun.',
      })
    if (!work) return follow(call, id, { stdout: offset, stderr: stderr_offset ?? 0 })
    const result = await within(call.client.patienceMs, work, call.signal)
    if (result === late) return { data: { id, pending: true } }
    call.client.pending.delete(id)
    const data = { id, pending: false, result: result as Record<string, unknown> }
    // A session that has been begun: it is the one that is meant from now on.
    const { session, epoch } = data.result as { session?: string; epoch?: number }
    return session === undefined || epoch === undefined ? { data } : { data, session: { id: session, epoch } }
  },
})

const stop = defineTool({
  name: 'stop_command',
  title: 'Stop a command',
  description: 'Ends a running command and all its children. What it had written so far stays.',
  input: { id: z.string().min(1) },
  output: commandFields,
  effect: 'adds',
  idempotent: true,
  async run(call, { id }) {
    await call.host.commands.stop({ session: call.session, id: known(id) })
    return { ...(await follow(call, id, null)), failed: false }
  },
})

export const commandTools: readonly Tool[] = [execute, get, stop]

/** A call that is repeated is the same command: always where its name lasts, else while the command runs. */
async function commandId(call: Call, cmd: string | string[]): Promise<string> {
  if (!call.key) return randomUUID()
  const { text, lasting } = call.key
  const parts = [call.session, text, ...(lasting ? [] : [call.client.id, JSON.stringify(cmd)])]
  const id = `mcp-${createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 40)}`
  if (lasting) return id
  const earlier = await recordOf(call, id).catch((error: unknown) => {
    if (fromRpcError(error) instanceof FileNotFoundError) return null
    throw error
  })
  return earlier && earlier.status !== 'running' ? randomUUID() : id
}

const recordOf = ({ host, session }: Call, id: string): Promise<CommandRecord> => host.commands.get({ session, id })

/** Waits for its end as long as a client waits, and shows output: from `offsets` on, else all of it or its end. */
async function follow(
  call: Call,
  id: string,
  offsets: { stdout: number; stderr: number } | null,
): Promise<Omit<Outcome, 'data'> & { data: CommandData }> {
  const end = await waitFor(call, known(id))
  const now = await recordOf(call, id)
  const [stdout, stderr] = await Promise.all(
    (['stdout', 'stderr'] as const).map((stream) => {
      const held = stream === 'stdout' ? now.stdoutBytes : now.stderrBytes
      const from = offsets ? offsets[stream] : end ? Math.max(0, held - WINDOW) : 0
      return readWindow(call.host, { session: call.session, id, stream }, from)
    }),
  )
  if (!stdout || !stderr) throw new Error('both streams were asked for')
  const rolledBack = end?.autoRollback ?? null
  const data: CommandData = {
    id,
    status: end ? now.status : 'running',
    pending: !end,
    code: end?.code ?? null,
    signal: end?.signal ?? null,
    duration_ms: end?.durationMs ?? Date.now() - now.startedAt.getTime(),
    stdout: stdout.text,
    stdout_offset: stdout.from,
    next_offset: stdout.next,
    stderr: stderr.text,
    stderr_offset: stderr.from,
    next_stderr_offset: stderr.next,
    more: end !== null && (stdout.next < now.stdoutBytes || stderr.next < now.stderrBytes),
    note: now.note,
    auto_rollback: autoRollbackOf(rolledBack),
  }
  const failed = end !== null && end.code !== 0
  return { data, failed, ...(rolledBack ? { rolledBack: true } : {}) }
}

/** @returns null where it still runs when the client has waited long enough */
async function waitFor(call: Call, id: string): Promise<CommandResult | null> {
  const { host, session, signal } = call
  const looking = new AbortController()
  const stop = () => {
    // Its end comes by the call that waits for it.
    host.commands.stop({ session, id }).catch(() => {})
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    const waited = host.commands.wait({ session, id })
    void tellProgress(call, id, looking.signal)
    const end = await within(call.client.patienceMs, waited, looking.signal)
    return end === late ? null : end
  } finally {
    looking.abort()
    signal.removeEventListener('abort', stop)
  }
}

/** The newest line of its output, each second, to whoever asked for progress. */
async function tellProgress(call: Call, id: string, over: AbortSignal): Promise<void> {
  const { host, session, progress } = call
  if (!progress) return
  let offset = 0
  while (!over.aborted) {
    await within(LOOK_MS, new Promise<never>(() => {}), over)
    if (over.aborted) return
    try {
      const part = await readWindow(host, { session, id, stream: 'stdout' }, offset)
      offset = part.next
      const line = part.text.trimEnd().split('\n').at(-1)?.trim()
      progress(line || 'still running')
    } catch {
      // It is the call itself that says what is wrong.
      return
    }
  }
}

/** @throws InvalidOptionError for what cannot be the id of a command */
function known(id: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return id
  throw new InvalidOptionError(`${JSON.stringify(id.slice(0, 80))} is no command id.`, {
    nextStep: 'The id is in the answer of execute_sandbox_command.',
  })
}
