/** Verdicts that nobody could give: an agent may see that a person is asked, and what they decide, and decides nothing. */
import { z } from 'zod'
import { type Escalation, InvalidOptionError, Resolution } from '../../contract/index.ts'
import { late, within } from '../pending.ts'
import { type Call, defineTool, type Tool } from '../tool.ts'

const get = defineTool({
  name: 'get_escalation',
  title: 'A verdict that a person is asked about',
  description:
    'Where the verifier could not decide, a person is asked: continue, rollback or stop. Waits up to 50 seconds for the ' +
    'decision and tells it. You cannot decide yourself. continue: go on, nothing was verified; rollback: files and ' +
    'conversation went back, read them again; stop: the session is halted.',
  input: { id: z.string().min(1).max(100).describe('from the answer of run_verification that was pending') },
  output: {
    id: z.string(),
    pending: z.boolean().describe('nobody has decided yet: ask again'),
    status: z.enum(['open', 'answered', 'withdrawn']),
    resolution: Resolution.nullable(),
    answered_by: z.string().nullable(),
    answered_at: z.string().nullable(),
    note: z.string().nullable(),
    checkpoint: z.string().nullable().describe('where a rollback goes'),
    verifier: z.string(),
    attempts: z.number(),
    verdict: z.string(),
    raw_output: z.string(),
    timeout: z.number().nullable().describe('seconds from when it was raised after which on_timeout is decided'),
    on_timeout: Resolution,
  },
  effect: 'reads',
  async run(call, { id }) {
    const before = await call.host.escalations.get({ id })
    if (before.session !== call.session)
      throw new InvalidOptionError(`Escalation ${id} is of another session, ${before.sessionName}.`, {
        nextStep: `Pass session: ${before.session}.`,
      })
    const waited = call.host.escalations.wait({ id })
    const outcome = await within(call.client.patienceMs, waited, call.signal)
    return { data: dataOf(outcome === late ? before : outcome) }
  },
})

function dataOf(escalation: Escalation) {
  const { id, status, resolution, answeredBy, answeredAt, note, evidence, timeoutMs, onTimeout } = escalation
  return {
    id,
    pending: status === 'open',
    status,
    resolution,
    answered_by: answeredBy,
    answered_at: answeredAt?.toISOString() ?? null,
    note,
    checkpoint: evidence.checkpoint,
    verifier: [evidence.verifierCommand].flat().join(' '),
    attempts: evidence.attempts,
    verdict: evidence.text,
    raw_output: evidence.lastResult.rawOutput,
    timeout: timeoutMs === null ? null : timeoutMs / 1000,
    on_timeout: onTimeout,
  }
}

/** The newest that waits in this session. */
export async function waitingIn({ host, session }: Call): Promise<Escalation | null> {
  return (await host.escalations.list({ session, open: true })).at(-1) ?? null
}

export const escalationTools: readonly Tool[] = [get]
