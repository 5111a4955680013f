/** Ports of a sandbox that a person opened to this machine: the next host has them again. */
import type { Migration } from '../migrate.ts'

export const openPorts: Migration = {
  name: '2026-11-30-open-ports',
  statements: `
    ALTER TABLE sessions ADD COLUMN openPorts TEXT NOT NULL DEFAULT '[]';
  `,
}
