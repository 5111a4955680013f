/** The ledger: what was verified, decided and rolled back, which no rollback takes away. */
import { z } from 'zod'
import { LedgerEventType, ledgerFields } from '../../contract/index.ts'
import { defineTool, type Tool } from '../tool.ts'

const history = defineTool({
  name: 'get_ledger_history',
  title: 'What was verified and rolled back',
  description:
    'The ledger of the session, oldest first: verifications, escalations, rollbacks, repairs. It survives every rollback.',
  input: {
    checkpoint: z.string().optional().describe('only rows about this target'),
    type: LedgerEventType.optional(),
    status: z.string().optional(),
  },
  output: {
    entries: z.array(
      z.object({
        id: z.number(),
        timestamp: z.string(),
        event_type: LedgerEventType,
        status: z.string().nullable(),
        checkpoint: z.string().nullable(),
        point: z.string().nullable(),
        raw_output: z.string().nullable(),
        notes: z.string().nullable(),
        resolution: z.string().nullable(),
        decided_by: z.string().nullable(),
        hash: z.string(),
      }),
    ),
    count: z.number(),
  },
  effect: 'reads',
  async run({ host, session }, { checkpoint, type, status }) {
    const rows = await host.ledger.list({
      session,
      checkpoint: checkpoint ?? null,
      type: type ?? null,
      status: status ?? null,
    })
    const entries = rows.map(ledgerFields)
    return { data: { entries, count: entries.length } }
  },
})

export const ledgerTools: readonly Tool[] = [history]
