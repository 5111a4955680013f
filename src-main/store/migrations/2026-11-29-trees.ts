/**
 * Points name their topmost layers alone; which layer stands on which is known to the sandbox, no more to the store. What the
 * store knew of it is left in the sandboxes' folders, where they look for it.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Migration } from '../migrate.ts'

export const trees: Migration = {
  name: '2026-11-29-trees',
  before: handOver,
  statements: `
    CREATE TABLE morePoints (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      id TEXT NOT NULL,
      seq INTEGER NOT NULL,
      kind TEXT NOT NULL,
      label TEXT,
      parent TEXT,
      at INTEGER NOT NULL,
      takenBy TEXT NOT NULL,
      why TEXT,
      tool TEXT,
      messages INTEGER NOT NULL,
      files TEXT,
      running TEXT NOT NULL,
      verdict TEXT,
      coverage TEXT NOT NULL,
      ms REAL NOT NULL,
      bytes INTEGER,
      node TEXT REFERENCES nodes (id),
      workspaceTop INTEGER NOT NULL,
      machineTop INTEGER NOT NULL,
      pinned INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (session, seq),
      UNIQUE (session, id),
      FOREIGN KEY (session, parent) REFERENCES morePoints (session, id)
    ) STRICT;
    INSERT INTO morePoints SELECT
      session, id, seq, kind, label, parent, at, takenBy, why, tool, messages, files, running, verdict, coverage, ms, bytes,
      node, ifnull(workspaceTop, 0), ifnull(machineTop, 0), pinned
    FROM points;
    DROP TABLE points;
    ALTER TABLE morePoints RENAME TO points;
    DROP TABLE layers;
  `,
}

interface Row {
  session: string
  overlay: string
  number: number
  parent: number
}

function handOver(db: Database): void {
  const rows = db.prepare<[], Row>('SELECT * FROM layers WHERE parent IS NOT NULL ORDER BY session').all()
  for (const [session, layers] of Map.groupBy(rows, (row) => row.session)) {
    const folder = join(dirname(db.name), 'sandboxes', session)
    if (!existsSync(folder)) continue
    const lines = layers.map(({ overlay, number, parent }) => `${JSON.stringify([overlay, 'on', number, parent])}\n`)
    writeFileSync(join(folder, 'layers-0'), lines.join(''), { mode: 0o600, flush: true })
  }
}
