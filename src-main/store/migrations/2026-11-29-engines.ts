/** What a sandbox runs in, and what goes back with a rewind: told apart since there is a second engine. */
import type { Migration } from '../migrate.ts'

export const engines: Migration = {
  name: '2026-11-29-engines',
  statements: `
    ALTER TABLE sessions ADD COLUMN image TEXT;
    ALTER TABLE sessions ADD COLUMN scope TEXT NOT NULL DEFAULT 'workspace';
  `,
}
