/** What had changed on the host before a point was taken. */
import type { Migration } from '../migrate.ts'

export const host: Migration = {
  name: '2026-11-29-host',
  statements: `
    ALTER TABLE points ADD COLUMN host TEXT;
  `,
}
