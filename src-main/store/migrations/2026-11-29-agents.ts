/** Who began a session and whom it is open to, and the rewinds that moved it, by the epoch each began. */
import type { Migration } from '../migrate.ts'

export const agents: Migration = {
  name: '2026-11-29-agents',
  statements: `
    ALTER TABLE sessions ADD COLUMN begunBy TEXT NOT NULL DEFAULT 'person';
    ALTER TABLE sessions ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;

    -- No reference to points: what was rewound is remembered when they are pruned.
    CREATE TABLE rewinds (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      epoch INTEGER NOT NULL,
      at INTEGER NOT NULL,
      by TEXT NOT NULL,
      point TEXT NOT NULL,
      name TEXT NOT NULL,
      only TEXT,
      leftAt TEXT NOT NULL,
      PRIMARY KEY (session, epoch)
    ) STRICT, WITHOUT ROWID;
  `,
}
