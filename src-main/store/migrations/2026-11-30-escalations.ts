/** Verdicts that wait for a decision, with what they are decided on; and how long those of a session wait. */
import type { Migration } from '../migrate.ts'

export const escalations: Migration = {
  name: '2026-11-30-escalations',
  statements: `
    CREATE TABLE escalations (
      id TEXT PRIMARY KEY,
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      sessionName TEXT NOT NULL,
      raisedAt INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      evidence TEXT NOT NULL,
      asked TEXT NOT NULL,
      timeoutMs REAL,
      onTimeout TEXT NOT NULL,
      status TEXT NOT NULL,
      resolution TEXT,
      answeredBy TEXT,
      via TEXT,
      answeredAt INTEGER,
      note TEXT,
      error TEXT,
      carriedOut INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX escalationsOfSession ON escalations (session);
    CREATE INDEX escalationsOpen ON escalations (session) WHERE status = 'open';
    ALTER TABLE sessions ADD COLUMN escalation TEXT NOT NULL DEFAULT '{"timeoutMs":null,"onTimeout":"stop"}';
  `,
}
