/** A ledger row under the names that MCP and exports give its fields. */
import type { LedgerEntry } from './model.ts'

export const ledgerFields = (row: LedgerEntry) => ({
  id: row.id,
  timestamp: row.timestamp.toISOString(),
  event_type: row.eventType,
  status: row.status,
  checkpoint: row.checkpoint,
  point: row.point,
  raw_output: row.rawOutput,
  notes: row.notes,
  resolution: row.resolution,
  decided_by: row.decidedBy,
  hash: row.hash,
})
