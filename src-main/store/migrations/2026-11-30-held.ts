/** Since when the time limit of an escalation stands still, because its session is paused. */
import type { Migration } from '../migrate.ts'

export const held: Migration = {
  name: '2026-11-30-held',
  statements: `
    ALTER TABLE escalations ADD COLUMN heldAt INTEGER;
  `,
}
