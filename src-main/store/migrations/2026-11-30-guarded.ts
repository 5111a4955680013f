/** Commands whose failure the exception rule looks for although they are no tool calls. */
import type { Migration } from '../migrate.ts'

export const guarded: Migration = {
  name: '2026-11-30-guarded',
  statements: `
    ALTER TABLE commands ADD COLUMN guarded INTEGER NOT NULL DEFAULT 0;
    UPDATE commands SET guarded = 1 WHERE status = 'running' AND tool IS NOT NULL AND tool NOT IN ('agent', 'verifier');
  `,
}
