/**
 * What the host announces. Events say what happened and carry the new state of the thing they name, so applying
 * one twice is harmless; a client that was away asks for those after the last id it saw.
 */
import { z } from 'zod'
import { CommitRecord } from './commit.ts'
import { Escalation } from './escalations.ts'
import { MAIN } from './format-names.ts'
import { CommandRecord, LedgerEntry, Point, SessionSummary, ToolCall, Verdict } from './model.ts'

const Envelope = z.object({ id: z.number(), at: z.date(), session: z.string() })

export const SessionEvent = z.discriminatedUnion('type', [
  Envelope.extend({ type: z.literal('sessionChanged'), summary: SessionSummary }),
  Envelope.extend({ type: z.literal('pointAdded'), point: Point }),
  /** A verdict came in, files were counted, a cost measured. */
  Envelope.extend({ type: z.literal('pointChanged'), point: Point }),
  /** It was pruned; points that hung below it hang below `parent` now. */
  Envelope.extend({ type: z.literal('pointRemoved'), point: z.string(), parent: z.string().nullable() }),
  Envelope.extend({
    type: z.literal('rewound'),
    head: z.string(),
    epoch: z.number(),
    undo: z.string().nullable(),
    /** The point that keeps what was left. */
    from: z.string(),
    by: z.string(),
  }),
  /** New points were hung below the head, or the sandbox was written to: what stands at `now` is different. */
  Envelope.extend({ type: z.literal('headMoved'), head: z.string() }),
  Envelope.extend({ type: z.literal('filesChanged') }),
  Envelope.extend({
    type: z.literal('messagesChanged'),
    conversation: z.string().default(MAIN),
    revision: z.number(),
    /** Messages of all conversations together. */
    count: z.number(),
  }),
  /** Also when its terminal was given another size. */
  Envelope.extend({ type: z.literal('commandStarted'), command: CommandRecord }),
  Envelope.extend({ type: z.literal('commandEnded'), command: CommandRecord }),
  Envelope.extend({ type: z.literal('toolCallStarted'), call: ToolCall }),
  Envelope.extend({ type: z.literal('toolCallEnded'), call: ToolCall }),
  /** One attempt of a verifier; `verdict` is null while it runs. */
  Envelope.extend({
    type: z.literal('verifierAttempt'),
    attempt: z.number(),
    of: z.number(),
    verdict: Verdict.nullable(),
  }),
  /** One was raised, answered or withdrawn. */
  Envelope.extend({ type: z.literal('escalationChanged'), escalation: z.string(), status: Escalation.shape.status }),
  /** Files were written to the host, or taken back from it. */
  Envelope.extend({ type: z.literal('committed'), commit: CommitRecord }),
  Envelope.extend({ type: z.literal('ledgerAdded'), entry: LedgerEntry }),
  /** A line of the demo's story, for the person who watches. */
  Envelope.extend({ type: z.literal('demoStep'), step: z.number(), of: z.number(), text: z.string() }),
  /** The events asked for are no longer held: load everything again. `session` is empty. */
  Envelope.extend({ type: z.literal('resync') }),
])
export type SessionEvent = z.infer<typeof SessionEvent>
export type SessionEventType = SessionEvent['type']

type Bodies<E> = E extends SessionEvent ? Omit<E, 'id' | 'at'> : never
/** An event as it is raised: the log gives it id and time. */
export type NewSessionEvent = Bodies<SessionEvent>
