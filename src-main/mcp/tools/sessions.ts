/** Sandboxes as such: begin one, see how it stands, do away with it. */
import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import {
  EngineChoice,
  EngineName,
  ImageName,
  InvalidPathError,
  SessionMode,
  SessionStatus,
} from '../../contract/index.ts'
import type { AgentHost } from '../host.ts'
import { late, within } from '../pending.ts'
import { defineTool, type Tool } from '../tool.ts'
import { countsField } from './shapes.ts'

/** A client that waits is told that it goes on, milliseconds. */
const BEAT_MS = 5_000

const begun = {
  name: z.string(),
  path: z.string().describe('the folder on the host'),
  workspace: z.string().describe('the same folder as commands in the sandbox see it'),
  status: SessionStatus,
  engine: EngineName,
  image: z.string().nullable(),
  attached: z.boolean().describe('the session was there already'),
  created: z.boolean().describe('the folder was made'),
  notes: z.array(z.string()),
}

const init = defineTool({
  name: 'init_sandbox',
  title: 'Begin a sandbox session',
  description:
    'Begins a sandbox on a project folder, or attaches to the live one of that name. Work in it with ' +
    'execute_sandbox_command, write_sandbox_file and read_sandbox_file instead of your own shell and edit tools: ' +
    'nothing touches the real project, and everything can be rewound. A folder that is missing is made. Where a person ' +
    'has to allow the folder first, or an image has to be made, the answer may be pending: true; go on with get_command.',
  input: {
    path: z.string().min(1).describe('the project folder'),
    container_name: z.string().min(1).max(64).default('rewind_sandbox').describe('the name of the session'),
    engine: EngineChoice.default('auto').describe('docker isolates best; auto takes it where it is ready'),
    image: ImageName.optional().describe("the docker image to work in; the product's own by default"),
    mode: SessionMode.default('interactive').describe('agent: an unknown verdict asks nobody and halts'),
    force: z.boolean().default(false).describe('begin anew where a live session of that name exists'),
  },
  output: { ...z.object(begun).partial().shape, pending: z.boolean(), id: z.string().optional() },
  effect: 'adds',
  idempotent: true,
  about: 'none',
  async run(call, { path, container_name, engine, image, mode, force }) {
    const { host, client, by, signal, progress } = call
    if (!isAbsolute(path) && client.folder === null)
      throw new InvalidPathError(`${JSON.stringify(path)} is not an absolute path.`, {
        nextStep: 'Give the whole path of the project folder, from / on.',
      })
    const workspace = resolve(client.folder ?? '/', path)
    const begin = async () =>
      dataOf(
        await host.sessions.create(
          { name: container_name, workspace, engine, image, mode, force, create: true, client: by },
          // What the client takes back is not begun; what it was told is pending goes on.
          { signal },
        ),
      )
    const beat = async (tell: (text: string) => void) => {
      const making = await host.engines.making({ name: image ?? null })
      tell(making?.text ?? 'still beginning: a folder is copied, an image is made, or a person is asked to allow it')
    }
    // What cannot be told now is told by the answer.
    const beating = progress ? setInterval(() => void beat(progress).catch(() => {}), BEAT_MS) : undefined
    try {
      const work = begin()
      const outcome = await within(client.patienceMs, work, new AbortController().signal)
      if (outcome !== late) return outcome
      const id = client.pending.add(
        work.then(({ session, data }) => ({ ...data, session: session.id, epoch: session.epoch })),
        'begin',
      )
      return { data: { pending: true, id } }
    } finally {
      clearInterval(beating)
    }
  },
})

function dataOf({ session, attached, created }: Awaited<ReturnType<AgentHost['sessions']['create']>>) {
  return {
    session: { id: session.id, epoch: session.epoch },
    data: {
      pending: false,
      name: session.name,
      path: session.workspace,
      workspace: session.workspaceInside,
      status: session.status,
      engine: session.engine,
      image: session.image,
      attached,
      created,
      notes: session.notes,
    },
  }
}

const status = defineTool({
  name: 'get_sandbox_status',
  title: 'How the sandbox stands',
  description:
    'The state of the session: checkpoints, messages, running commands and processes, rules, what changed since the last checkpoint.',
  input: {},
  output: {
    name: z.string(),
    path: z.string(),
    workspace: z.string(),
    status: SessionStatus,
    engine: EngineName,
    image: z.string().nullable(),
    mode: SessionMode,
    checkpoints: z.array(z.string()).describe('labels of the current line, oldest first'),
    message_count: z.number(),
    layers: z.number(),
    usage: z.number().nullable().describe('bytes on disk'),
    uncommitted: countsField.nullable().describe('files changed since the newest checkpoint'),
    processes: z.array(z.object({ pid: z.number(), command: z.string() })),
    running: z.array(z.object({ id: z.string(), command: z.string() })).describe('commands, for get_command'),
    auto_checkpoint: z.object({ trigger: z.string(), keep_last: z.number().nullable() }).nullable(),
    auto_rollback: z
      .object({ events: z.array(z.string()), to: z.string(), verifier: z.string().nullable() })
      .nullable(),
    notes: z.array(z.string()),
  },
  effect: 'reads',
  async run({ host, session }) {
    const found = await host.sessions.get({ session })
    const { autoCheckpoint, autoRollback } = found.rules
    return {
      data: {
        name: found.name,
        path: found.workspace,
        workspace: found.workspaceInside,
        status: found.status,
        engine: found.engine,
        image: found.image,
        mode: found.mode,
        checkpoints: found.labels,
        message_count: found.messages,
        layers: found.layers,
        usage: found.bytes,
        uncommitted: found.uncommitted,
        processes: found.processes,
        running: found.running.map(({ id, command }) => ({ id, command: [command].flat().join(' ') })),
        auto_checkpoint: autoCheckpoint && { trigger: autoCheckpoint.trigger, keep_last: autoCheckpoint.keepLast },
        auto_rollback: autoRollback && {
          events: autoRollback.events,
          to: autoRollback.to,
          verifier: autoRollback.verifier && [autoRollback.verifier.command].flat().join(' '),
        },
        notes: found.notes,
      },
    }
  },
})

const destroy = defineTool({
  name: 'destroy_sandbox',
  title: 'Destroy the sandbox',
  description:
    'Ends the session and frees its files: what was changed in it is gone for good. Timeline, messages and ledger stay. ' +
    'Only for sessions that an agent began.',
  input: {},
  output: { name: z.string(), status: SessionStatus },
  effect: 'destroys',
  async run({ host, session, epoch }) {
    const { name, status } = await host.sessions.destroy({ session, epoch })
    return { gone: true, data: { name, status } }
  },
})

export const sessionTools: readonly Tool[] = [init, status, destroy]
