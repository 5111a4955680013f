/** Which escalation a row of the ledger tells the end of: they are written in one step, with the same verdict. */
import type { Escalation, LedgerEntry } from '../../src-main/contract/index.ts'

/** Row and decision are stamped one after the other. */
const APART_MS = 5_000

type Row = Pick<LedgerEntry, 'timestamp' | 'point' | 'rawOutput'>

export function evidenceFor(
  { timestamp, point, rawOutput }: Row,
  escalations: readonly Escalation[],
): Escalation | null {
  const apart = ({ answeredAt }: Escalation) => Math.abs((answeredAt?.getTime() ?? 0) - timestamp.getTime())
  const [nearest] = escalations
    .filter(
      (one) =>
        one.answeredAt !== null &&
        apart(one) <= APART_MS &&
        one.evidence.point === point &&
        isSame(one.evidence.lastResult.rawOutput, rawOutput),
    )
    .sort((a, b) => apart(a) - apart(b))
  return nearest ?? null
}

/** Secrets are taken out of what the ledger keeps, so such a text is another than the one that was judged. */
const isSame = (judged: string, kept: string | null): boolean =>
  judged === kept || kept?.includes('[redacted: ') === true
