/** What agents did by tools, as a person who watches reads it. */
import type { Migration } from '../migrate.ts'

export const toolCalls: Migration = {
  name: '2026-11-29-tool-calls',
  statements: `
    CREATE TABLE toolCalls (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      id TEXT NOT NULL,
      client TEXT NOT NULL,
      tool TEXT NOT NULL,
      arguments TEXT NOT NULL,
      status TEXT NOT NULL,
      result TEXT,
      startedAt INTEGER NOT NULL,
      endedAt INTEGER,
      UNIQUE (session, id)
    ) STRICT;
    CREATE INDEX toolCallsRunning ON toolCalls (session) WHERE status = 'running';
  `,
}
