/**
 * The first schema. Columns bear the names of the fields that they hold; times are milliseconds since 1970; what has
 * structure of its own is JSON. Every table is STRICT, so that a wrong type is refused as it is written.
 */
import type { Migration } from '../migrate.ts'

export const first: Migration = {
  name: '2026-11-29-first',
  statements: `
    CREATE TABLE sessions (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      workspace TEXT NOT NULL,
      workspaceInside TEXT NOT NULL,
      engine TEXT NOT NULL,
      engineDetail TEXT NOT NULL,
      base TEXT NOT NULL,
      status TEXT NOT NULL,
      mode TEXT NOT NULL,
      demo INTEGER NOT NULL,
      network INTEGER NOT NULL,
      env TEXT NOT NULL,
      createdAt INTEGER NOT NULL,
      endedAt INTEGER,
      head TEXT NOT NULL,
      epoch INTEGER NOT NULL,
      undo TEXT,
      notes TEXT NOT NULL,
      rules TEXT NOT NULL,
      lastAutoRollback TEXT,
      haltedBy TEXT
    ) STRICT;

    -- A layer stands on exactly one other for ever, so a point need only name its topmost ones.
    CREATE TABLE layers (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      overlay TEXT NOT NULL CHECK (overlay IN ('workspace', 'machine')),
      number INTEGER NOT NULL,
      parent INTEGER,
      PRIMARY KEY (session, overlay, number),
      FOREIGN KEY (session, overlay, parent) REFERENCES layers (session, overlay, number)
    ) STRICT, WITHOUT ROWID;

    -- A message's JSON, once, however many histories hold it.
    CREATE TABLE payloads (
      hash TEXT PRIMARY KEY,
      json TEXT NOT NULL
    ) STRICT;

    -- A history is its last node: nodes hang below each other, and equal beginnings are the same nodes.
    CREATE TABLE nodes (
      id TEXT PRIMARY KEY,
      parent TEXT REFERENCES nodes (id),
      payload TEXT NOT NULL REFERENCES payloads (hash),
      depth INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE conversations (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      node TEXT REFERENCES nodes (id),
      revision INTEGER NOT NULL,
      PRIMARY KEY (session, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE points (
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
      workspaceOverlay TEXT NOT NULL DEFAULT 'workspace',
      workspaceTop INTEGER,
      machineOverlay TEXT NOT NULL DEFAULT 'machine',
      machineTop INTEGER,
      PRIMARY KEY (session, seq),
      UNIQUE (session, id),
      FOREIGN KEY (session, parent) REFERENCES points (session, id),
      FOREIGN KEY (session, workspaceOverlay, workspaceTop) REFERENCES layers (session, overlay, number),
      FOREIGN KEY (session, machineOverlay, machineTop) REFERENCES layers (session, overlay, number)
    ) STRICT;

    -- The N of NAME-ckpt-N goes on over all sessions of a name, so that an id never means two points.
    CREATE TABLE pointNumbers (
      name TEXT PRIMARY KEY,
      last INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE ledger (
      session TEXT NOT NULL REFERENCES sessions (id),
      id INTEGER NOT NULL,
      timestamp INTEGER NOT NULL,
      eventType TEXT NOT NULL,
      status TEXT,
      checkpoint TEXT,
      point TEXT,
      rawOutput TEXT,
      notes TEXT,
      resolution TEXT,
      decidedBy TEXT,
      hash TEXT NOT NULL,
      PRIMARY KEY (session, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER ledgerNoUpdate BEFORE UPDATE ON ledger BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only');
    END;
    CREATE TRIGGER ledgerNoDelete BEFORE DELETE ON ledger BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only');
    END;
    -- INSERT OR REPLACE would delete without asking the trigger above.
    CREATE TRIGGER ledgerNoReplace BEFORE INSERT ON ledger
    WHEN EXISTS (SELECT 1 FROM ledger WHERE session = NEW.session AND id = NEW.id) BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only');
    END;

    -- Where each session's chain ends, so that rows cut off its end are missed. Only a row that is appended moves it.
    CREATE TABLE ledgerHeads (
      session TEXT PRIMARY KEY REFERENCES sessions (id),
      rows INTEGER NOT NULL,
      hash TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER ledgerHeadMoves AFTER INSERT ON ledger BEGIN
      INSERT INTO ledgerHeads SELECT NEW.session, 0, '' WHERE NEW.id = 1;
      UPDATE ledgerHeads SET rows = NEW.id, hash = NEW.hash WHERE session = NEW.session;
    END;
    CREATE TRIGGER ledgerHeadNoUpdate BEFORE UPDATE ON ledgerHeads
    WHEN NEW.session <> OLD.session OR NEW.rows <> OLD.rows + 1
      OR NOT EXISTS (SELECT 1 FROM ledger WHERE session = NEW.session AND id = NEW.rows AND hash = NEW.hash) BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only');
    END;
    CREATE TRIGGER ledgerHeadNoDelete BEFORE DELETE ON ledgerHeads BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only');
    END;
    CREATE TRIGGER ledgerHeadNoReplace BEFORE INSERT ON ledgerHeads
    WHEN EXISTS (SELECT 1 FROM ledgerHeads WHERE session = NEW.session) BEGIN
      SELECT RAISE(ABORT, 'the ledger is append-only');
    END;

    CREATE TABLE commands (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      id TEXT NOT NULL,
      command TEXT NOT NULL,
      tool TEXT,
      startedAt INTEGER NOT NULL,
      endedAt INTEGER,
      status TEXT NOT NULL,
      code INTEGER,
      signal TEXT,
      note TEXT,
      stdoutBytes INTEGER NOT NULL,
      stderrBytes INTEGER NOT NULL,
      UNIQUE (session, id)
    ) STRICT;
    CREATE INDEX commandsRunning ON commands (session) WHERE status = 'running';

    CREATE TABLE journal (
      operation TEXT PRIMARY KEY,
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      intent TEXT NOT NULL,
      begunAt INTEGER NOT NULL
    ) STRICT;

    -- No reference to sessions: the log may outlive what it tells of.
    CREATE TABLE events (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      session TEXT NOT NULL,
      body TEXT NOT NULL
    ) STRICT;

    CREATE TABLE settings (
      key TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
}
