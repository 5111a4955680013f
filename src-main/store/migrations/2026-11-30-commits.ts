/** Commits to the host: what was written there, and where what it replaced is kept. */
import type { Migration } from '../migrate.ts'

export const commits: Migration = {
  name: '2026-11-30-commits',
  statements: `
    CREATE TABLE commits (
      id TEXT PRIMARY KEY,
      session TEXT NOT NULL REFERENCES sessions (id),
      kind TEXT NOT NULL,
      undoes TEXT,
      status TEXT NOT NULL,
      point TEXT NOT NULL,
      by TEXT NOT NULL,
      at INTEGER NOT NULL,
      counts TEXT NOT NULL,
      leftOut TEXT NOT NULL,
      folder TEXT NOT NULL,
      undoneAt INTEGER
    ) STRICT;
    CREATE INDEX commits_by_session ON commits (session);
  `,
}
