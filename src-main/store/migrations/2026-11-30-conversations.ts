/**
 * Conversations in every format, and points that hold all of a session's. Nodes and payloads are numbered instead of named
 * by their hashes, which took more room than many a message: a node is its parent and its payload, found by both.
 */
import type { Migration } from '../migrate.ts'

export const conversations: Migration = {
  name: '2026-11-30-conversations',
  statements: `
    CREATE TABLE newPayloads (
      id INTEGER PRIMARY KEY,
      hash BLOB NOT NULL UNIQUE,
      json TEXT NOT NULL
    ) STRICT;
    INSERT INTO newPayloads (hash, json) SELECT unhex(hash), json FROM payloads ORDER BY rowid;

    CREATE TABLE newNodes (
      id INTEGER PRIMARY KEY,
      parent INTEGER REFERENCES newNodes (id),
      payload INTEGER NOT NULL REFERENCES newPayloads (id),
      depth INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE renumbered (id INTEGER PRIMARY KEY, was TEXT NOT NULL UNIQUE) STRICT;
    INSERT INTO renumbered (was) SELECT id FROM nodes ORDER BY depth, id;
    INSERT INTO newNodes (id, parent, payload, depth)
      SELECT renumbered.id, parents.id, newPayloads.id, nodes.depth
      FROM renumbered
      JOIN nodes ON nodes.id = renumbered.was
      JOIN newPayloads ON newPayloads.hash = unhex(nodes.payload)
      LEFT JOIN renumbered AS parents ON parents.was = nodes.parent
      ORDER BY renumbered.id;

    -- What a point holds beside the main conversation: each combination once, since it seldom changes.
    CREATE TABLE conversationSets (
      id INTEGER PRIMARY KEY,
      hash BLOB NOT NULL UNIQUE,
      json TEXT NOT NULL
    ) STRICT;

    CREATE TABLE newConversations (
      session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      node INTEGER REFERENCES newNodes (id),
      format TEXT NOT NULL,
      revision INTEGER NOT NULL,
      PRIMARY KEY (session, name)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO newConversations (session, name, node, format, revision)
      SELECT session, name, renumbered.id, 'openai', revision
      FROM conversations LEFT JOIN renumbered ON renumbered.was = conversations.node;
    DROP TABLE conversations;
    ALTER TABLE newConversations RENAME TO conversations;

    CREATE TABLE newPoints (
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
      host TEXT,
      ms REAL NOT NULL,
      bytes INTEGER,
      pinned INTEGER NOT NULL DEFAULT 0,
      node INTEGER REFERENCES newNodes (id),
      format TEXT NOT NULL,
      others INTEGER REFERENCES conversationSets (id),
      workspaceTop INTEGER NOT NULL,
      machineTop INTEGER NOT NULL,
      PRIMARY KEY (session, seq),
      UNIQUE (session, id),
      FOREIGN KEY (session, parent) REFERENCES newPoints (session, id)
    ) STRICT;
    INSERT INTO newPoints (
      session, id, seq, kind, label, parent, at, takenBy, why, tool, messages, files, running, verdict, coverage, host, ms,
      bytes, pinned, node, format, others, workspaceTop, machineTop
    ) SELECT
      session, points.id, seq, kind, label, parent, at, takenBy, why, tool, messages, files, running, verdict, coverage,
      host, ms, bytes, pinned, renumbered.id, 'openai', NULL, workspaceTop, machineTop
    FROM points LEFT JOIN renumbered ON renumbered.was = points.node
    ORDER BY session, seq;
    -- What refers to a row that is dropped is looked for by this.
    CREATE INDEX oldPoints ON points (session, parent);
    DROP TABLE points;
    ALTER TABLE newPoints RENAME TO points;

    -- What was begun and not recorded when the older version ended is finished by this one.
    UPDATE journal SET intent = json_set(json_remove(intent, '$.node'), '$.conversations', json_array(json_object(
      'conversation', 'main', 'format', 'openai',
      'node', (SELECT id FROM renumbered WHERE was = journal.intent ->> '$.node')
    ))) WHERE kind = 'checkpoint';
    UPDATE journal SET intent = json_set(json_remove(intent, '$.leftNode'), '$.left', json_array(json_object(
      'conversation', 'main', 'format', 'openai',
      'node', (SELECT id FROM renumbered WHERE was = journal.intent ->> '$.leftNode')
    ))) WHERE kind = 'rollback';

    DROP TABLE renumbered;
    CREATE INDEX oldNodes ON nodes (parent);
    DROP TABLE nodes;
    DROP TABLE payloads;
    ALTER TABLE newNodes RENAME TO nodes;
    ALTER TABLE newPayloads RENAME TO payloads;
    CREATE UNIQUE INDEX nodeSteps ON nodes (ifnull(parent, 0), payload);
  `,
}
