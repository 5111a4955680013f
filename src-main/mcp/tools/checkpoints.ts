/** Points to go back to, and the way back: under the names of the SDK's tools, and under the short ones. */
import { z } from 'zod'
import {
  bareRewindTarget,
  CheckpointNotFoundError,
  currentLine,
  nameOf,
  type Point,
  type RollbackResult,
  TakenBy,
} from '../../contract/index.ts'
import { defineTool, type Outcome, type Tool } from '../tool.ts'
import { formatField, messagesArguments, messagesField, messagesOf, spokenArguments } from './shapes.ts'

const label = z.string().describe('its name, unique on the current line; without one the id is the name')

const savedFields = {
  checkpoint: z.string().describe('what it is called: its label, else its id'),
  id: z.string(),
  status: z.literal('saved'),
  message_count: z.number(),
  ms: z.number(),
}

const saved = (point: Point) => ({
  data: {
    checkpoint: nameOf(point),
    id: point.id,
    status: 'saved' as const,
    message_count: point.messages,
    ms: point.ms,
  },
})

const create = defineTool({
  name: 'create_sandbox_checkpoint',
  title: 'Save a checkpoint',
  description:
    'Freezes files and conversation as a point to go back to. Costs milliseconds; take one before anything risky.',
  input: {
    name: label.optional(),
    ...messagesArguments,
    reason: z.string().optional().describe('why it is worth keeping'),
  },
  output: savedFields,
  effect: 'adds',
  async run({ host, session, epoch }, { name, messages, messages_json, format, conversation, reason }) {
    const list = messagesOf({ messages, messages_json })
    return saved(
      await host.timeline.checkpoint({
        session,
        epoch,
        label: name ?? null,
        messages: list,
        format,
        conversation,
        why: reason ?? null,
      }),
    )
  },
})

const short = defineTool({
  name: 'sandbox_checkpoint',
  title: 'Save a restore point',
  description: 'Saves a restore point, with a label that says why the next step is worth guarding.',
  input: { label: label.optional() },
  output: savedFields,
  effect: 'adds',
  async run({ host, session, epoch }, { label }) {
    return saved(await host.timeline.checkpoint({ session, epoch, label: label ?? null }))
  },
})

const list = defineTool({
  name: 'sandbox_checkpoint_list',
  title: 'The restore points',
  description:
    'The checkpoints of the current line, oldest first; `target` marks the one that a bare sandbox_rewind goes to.',
  input: {},
  output: {
    checkpoints: z.array(
      z.object({
        id: z.string(),
        label: z.string().nullable(),
        when: z.string().describe('ISO 8601'),
        taken: TakenBy,
        why: z.string().nullable(),
        message_count: z.number(),
        target: z.boolean(),
      }),
    ),
    count: z.number(),
  },
  effect: 'reads',
  async run({ host, session }) {
    const { points, head } = await host.timeline.get({ session })
    const target = bareRewindTarget(points, head)
    const checkpoints = currentLine(points, head)
      .filter(({ kind }) => kind === 'checkpoint')
      .map((point) => ({
        id: point.id,
        label: point.label,
        when: point.at.toISOString(),
        taken: point.takenBy,
        why: point.why ?? point.tool,
        message_count: point.messages,
        target: point.id === target?.id,
      }))
    return { data: { checkpoints, count: checkpoints.length } }
  },
})

const rewoundFields = {
  checkpoint: z.string().describe('where it stands now'),
  id: z.string(),
  status: z.enum(['rolled_back', 'skipped_noop']).describe('skipped_noop: nothing had changed since'),
  messages: messagesField,
  format: formatField,
  message_count: z.number(),
  notes: z.array(z.string()).describe('what a conversion of the messages could not express'),
  conversations: z
    .array(z.object({ conversation: z.string(), format: formatField, messages: messagesField, revision: z.number() }))
    .describe('the histories of the other conversations to go on with'),
  repairs: z.array(z.string()).describe('what was done to make the history valid again'),
  stopped: z.array(z.object({ pid: z.number(), command: z.string() })).describe('processes that were ended'),
  points_left: z.array(z.string()).describe('ids of later checkpoints that left the line'),
  branch: z.string().nullable().describe('that keeps what was left'),
  ms: z.number(),
}

const rewound = (
  done: RollbackResult,
): Omit<Outcome, 'data'> & { data: z.input<z.ZodObject<typeof rewoundFields>> } => ({
  epoch: done.epoch,
  data: {
    checkpoint: nameOf(done.point),
    id: done.point.id,
    status: done.status,
    messages: done.messages,
    format: done.format,
    message_count: done.messages.length,
    notes: done.notes,
    conversations: done.conversations,
    repairs: done.repairs.map(({ note }) => note),
    stopped: done.stopped,
    points_left: done.pointsLeft,
    branch: done.branch,
    ms: done.ms,
  },
})

const rollback = defineTool({
  name: 'rollback_sandbox_state',
  title: 'Go back to a checkpoint',
  description:
    'Takes files, conversation and processes back to a checkpoint. Answers with the history to go on with, which ends in ' +
    'a message that says what happened. What is left is kept on a branch: a person can undo it.',
  input: {
    name: z
      .string()
      .min(1)
      .default('latest')
      .describe(
        'label or id; latest is the newest automatic checkpoint, else the newest; base is the project as it was',
      ),
    patch_notes: z.string().optional().describe('what to remember of the failed attempt'),
    only: z.enum(['files', 'messages']).optional().describe('move one half alone'),
    format: spokenArguments.format,
  },
  output: rewoundFields,
  effect: 'destroys',
  async run({ host, session, epoch }, { name, patch_notes, only, format }) {
    return rewound(
      await host.timeline.rollback({
        session,
        epoch,
        to: name,
        only: only ?? null,
        patchNotes: patch_notes ?? null,
        format,
      }),
    )
  },
})

const rewind = defineTool({
  name: 'sandbox_rewind',
  title: 'Rewind to a restore point',
  description:
    'Goes back to a restore point: by label or id, else to the newest one. Files, conversation and processes go back together.',
  input: { to: z.string().min(1).optional().describe('label or id; the newest checkpoint by default') },
  output: rewoundFields,
  effect: 'destroys',
  async run({ host, session, epoch }, { to }) {
    return rewound(await host.timeline.rollback({ session, epoch, to: to ?? (await newest(host, session)) }))
  },
})

/** @throws CheckpointNotFoundError where there is none: base is a target only when it is named */
async function newest(host: Parameters<Tool['run']>[0]['host'], session: string): Promise<string> {
  const { points, head } = await host.timeline.get({ session })
  const target = bareRewindTarget(points, head)
  if (target?.kind === 'checkpoint') return target.id
  throw new CheckpointNotFoundError('There is no checkpoint to rewind to.', {
    nextStep: 'Pass to: "base" to take the workspace back to how it was at the start.',
  })
}

export const checkpointTools: readonly Tool[] = [create, rollback, short, list, rewind]
