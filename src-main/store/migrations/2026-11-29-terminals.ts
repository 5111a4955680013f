/** Commands with a terminal, and its size. */
import type { Migration } from '../migrate.ts'

export const terminals: Migration = {
  name: '2026-11-29-terminals',
  statements: `
    ALTER TABLE commands ADD COLUMN terminal TEXT;
  `,
}
