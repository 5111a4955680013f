/** What is written when an escalation ends without a decision: within the transaction of what made it pointless. */
import type { Escalation } from '../contract/index.ts'
import type { EscalationRow } from '../store/index.ts'
import type { SessionContext } from './context.ts'

export const escalationOf = ({ carriedOut: _, heldAt: __, ...escalation }: EscalationRow): Escalation => escalation

/** Has those that still wait end undecided. @param by who did what made them pointless */
export function withdrawEscalations(context: SessionContext, why: string, by: string | null): void {
  for (const { id, evidence } of context.store.escalations.open(context.id)) {
    context.store.escalations.update(id, {
      status: 'withdrawn',
      answeredBy: by,
      answeredAt: new Date(),
      note: why,
      carriedOut: true,
    })
    context.appendLedger({
      eventType: 'escalation',
      status: 'unknown',
      checkpoint: evidence.checkpoint,
      point: evidence.point,
      rawOutput: evidence.lastResult.rawOutput,
      notes: `withdrawn, ${why}: ${evidence.text}`,
      resolution: 'withdrawn',
      decidedBy: by,
    })
    context.raise({ type: 'escalationChanged', escalation: id, status: 'withdrawn' })
    context.askers.changed()
  }
}
