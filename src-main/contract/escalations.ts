/** Escalations: verdicts that nobody could give, which wait for a decision; and what may be asked about them. */
import { eventIterator, oc } from '@orpc/contract'
import { z } from 'zod'
import { Change, CommandLine, FileCounts, VerdictStatus } from './model.ts'

/** What a person, or the program that they wrote, may decide. */
export const Resolution = z.enum(['continue', 'rollback', 'stop'])
export type Resolution = z.infer<typeof Resolution>

/** How long an escalation waits, and what is decided for whoever did not answer. */
export const EscalationRule = z.object({
  /** null: for ever. */
  timeoutMs: z.number().positive().nullable().default(null),
  onTimeout: Resolution.default('stop'),
})
export type EscalationRule = z.infer<typeof EscalationRule>

/** Everything that a decision is made on, as it stood when the verifier had given up. */
export const Evidence = z.object({
  /** What the rule would roll back to, as it names it. */
  checkpoint: z.string().nullable(),
  /** The point that holds what was judged; null where none did. */
  point: z.string().nullable(),
  verifierCommand: CommandLine,
  attempts: z.number(),
  lastResult: z.object({
    status: VerdictStatus,
    rawOutput: z.string(),
    rawStderr: z.string(),
    notes: z.string().nullable(),
  }),
  /** The verdict in words. */
  text: z.string(),
  /** The point that the changes are counted from. */
  since: z.string(),
  /** The first of them, by path; `counts` are of all. */
  changes: z.array(Change),
  counts: FileCounts,
})
export type Evidence = z.infer<typeof Evidence>

/** Where an answer was given. */
export const AnsweredVia = z.enum(['window', 'terminal', 'command line', 'sdk', 'elicitation'])
export type AnsweredVia = z.infer<typeof AnsweredVia>

export const Escalation = z.object({
  id: z.string(),
  /** Id and name of the session. */
  session: z.string(),
  sessionName: z.string(),
  raisedAt: z.date(),
  /** The session's when it was raised. */
  epoch: z.number(),
  evidence: Evidence,
  /** Who was asked: the handler of the program that began the session, alone; everybody who is there; or nobody was. */
  asked: z.enum(['handler', 'everybody', 'nobody']),
  timeoutMs: z.number().nullable(),
  onTimeout: Resolution,
  /** `withdrawn`: a rewind, a halt or the session's end made it pointless. */
  status: z.enum(['open', 'answered', 'withdrawn']),
  resolution: Resolution.nullable(),
  /** `you`, `handler`, `timeout`, `rule` (nobody was there), or who withdrew it; null while it is open. */
  answeredBy: z.string().nullable(),
  via: AnsweredVia.nullable(),
  answeredAt: z.date().nullable(),
  /** What whoever decided had to say; why it was withdrawn. */
  note: z.string().nullable(),
  /** What was wrong with the handler that was asked. */
  error: z.string().nullable(),
})
export type Escalation = z.infer<typeof Escalation>

/** In what way somebody is there to be asked. */
export const AskerKind = z.enum(['window', 'terminal', 'handler', 'elicitation'])
export type AskerKind = z.infer<typeof AskerKind>

const EscalationRef = z.object({ id: z.string().min(1).max(100) })

export const escalations = {
  /** Oldest first; those of all sessions where none is named. */
  list: oc
    .input(z.object({ session: z.string().min(1).nullable().default(null), open: z.boolean().default(false) }))
    .output(z.array(Escalation)),
  get: oc.input(EscalationRef).output(Escalation),
  /** As `get`, once it is decided and the decision is carried out. */
  wait: oc.input(EscalationRef).output(Escalation),
  /**
   * Decides it, once and for all. One that is decided already is refused with who decided and when. Answered when what was
   * decided is carried out.
   */
  answer: oc
    .input(
      EscalationRef.extend({
        resolution: Resolution,
        note: z.string().max(4_000).nullable().default(null),
        via: AnsweredVia,
        /** It is a program's handler that decides, or that failed to. */
        handler: z.boolean().default(false),
        error: z.string().max(4_000).nullable().default(null),
      }),
    )
    .output(Escalation),
  /**
   * Those that wait for this kind of asker, now and after each change. Whoever listens is there to be asked: of every
   * session, or of the one that is named (a handler always names one).
   */
  watch: oc
    .input(z.object({ as: AskerKind, session: z.string().min(1).nullable().default(null) }))
    .output(eventIterator(z.array(Escalation))),
}
