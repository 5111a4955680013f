/** What commits took of a file in part: neither what was committed before nor what the sandbox had says it any more. */
import type { Migration } from '../migrate.ts'

export const commitParts: Migration = {
  name: '2026-11-30-commit-parts',
  statements: `
    ALTER TABLE commits ADD COLUMN partly TEXT NOT NULL DEFAULT '[]';
    CREATE TABLE commitParts (
      commitId TEXT NOT NULL REFERENCES commits (id),
      path TEXT NOT NULL,
      mode INTEGER NOT NULL,
      content BLOB NOT NULL,
      PRIMARY KEY (commitId, path)
    ) STRICT;
  `,
}
