/** What a verifier said. Its exit code says nothing: a verifier that finds a fault ends well. */
import type { CommandRecord, LedgerEntry, VerdictStatus } from '../../src-main/contract/index.ts'

/** What the host names a verifier's own commands. */
export const isVerifier = ({ tool }: Pick<CommandRecord, 'tool'>): boolean => tool === 'verifier'

/**
 * The verdict that the ledger holds for this run: the first one after its end. A run that another one follows before
 * that was not the last word, so it has none.
 */
export function verdictOf(
  command: CommandRecord,
  commands: readonly CommandRecord[],
  ledger: readonly LedgerEntry[],
): VerdictStatus | null {
  const { endedAt, id } = command
  if (!isVerifier(command) || endedAt === null) return null
  const row = ledger.find(
    ({ eventType, timestamp }) => (eventType === 'verification' || eventType === 'escalation') && timestamp >= endedAt,
  )
  const status = (['pass', 'fail', 'unknown'] as const).find((one) => one === row?.status)
  if (!row || !status) return null
  const isFollowed = commands.some(
    (other) => other.id !== id && isVerifier(other) && other.startedAt >= endedAt && other.startedAt <= row.timestamp,
  )
  return isFollowed ? null : status
}
