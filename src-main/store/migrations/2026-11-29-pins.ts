/** Points that no pruning takes. */
import type { Migration } from '../migrate.ts'

export const pins: Migration = {
  name: '2026-11-29-pins',
  statements: `
    ALTER TABLE points ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  `,
}
