/** The session's ledger, to read: rows are written by what happens, and by nobody else. */
import { assertOptions, date, oneOf, text } from './checks.ts'
import type { HostLine } from './host-line.ts'
import type { LedgerCheck, LedgerEntry } from './types.ts'

/** Which rows of the ledger are wanted; those that all of it holds for. */
export interface LedgerFilter {
  /** The rule's or the caller's target, as it was named. */
  checkpoint?: string | undefined
  /** What happened. */
  type?: LedgerEntry['eventType'] | undefined
  /** A verdict, or how it went. */
  status?: string | undefined
  /** Rows of this moment and later. */
  since?: Date | undefined
}

const checks = {
  checkpoint: text,
  type: oneOf(
    'verification',
    'escalation',
    'rollback',
    'commit',
    'commit_undo',
    'prune',
    'repair',
    'resume',
    'process_image',
  ),
  status: text,
  since: date,
}

/** The head of a ledger without rows. */
const NO_ROW = '0'.repeat(64)

/**
 * What was verified, decided and taken back in a session. No rollback touches it, and it can be read after the session
 * has ended. It is a hash chain: {@link VerificationLedger.verify} finds what was changed.
 */
export class VerificationLedger {
  readonly #line: HostLine
  readonly #session: () => string | null

  /** @internal */
  constructor(line: HostLine, session: () => string | null) {
    this.#line = line
    this.#session = session
  }

  /** @returns every row, oldest first; none while the session was not started */
  history(): Promise<readonly LedgerEntry[]> {
    return this.filter()
  }

  /** @returns the rows about a checkpoint, by the label that the rule or the caller named */
  byCheckpoint(label: string): Promise<readonly LedgerEntry[]> {
    return this.filter({ checkpoint: label })
  }

  /**
   * @returns the rows that match, oldest first
   * @throws InvalidOptionError
   */
  async filter(filter: LedgerFilter = {}): Promise<readonly LedgerEntry[]> {
    assertOptions('ledger.filter()', filter, checks)
    const session = this.#session()
    if (session === null) return []
    const { checkpoint = null, type = null, status = null, since } = filter
    const rows = await this.#line.call((rpc) => rpc.ledger.list({ session, checkpoint, type, status, since }))
    return Object.freeze(rows.map(({ session: _, ...entry }) => Object.freeze(entry)))
  }

  /** @returns whether the chain is whole; an empty ledger is */
  async verify(): Promise<LedgerCheck> {
    const session = this.#session()
    if (session === null) return { whole: true, rows: 0, head: NO_ROW, brokenAt: null, anchor: 'missing' }
    return this.#line.call((rpc) => rpc.ledger.verify({ session }))
  }
}
