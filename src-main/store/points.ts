/** The timeline's points, each with what it holds: the layers of its files and the last message of each conversation. */
import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { CheckpointNotFoundError, FileCounts, MAIN, Point, StoredFormat, Verdict } from '../contract/index.ts'
import { atomic } from './database.ts'
import { flag, json, table, time } from './table.ts'

const storedPoint = Point.extend({
  at: time,
  files: json(FileCounts).nullable(),
  running: json(z.array(z.string())),
  pinned: flag,
  verdict: json(Verdict.extend({ at: time })).nullable(),
  coverage: json(Point.shape.coverage),
  host: json(Point.shape.host.unwrap()).nullable(),
})

const pointRow = storedPoint.extend({
  /** Of the main conversation. */
  node: z.number().nullable(),
  format: StoredFormat,
  /** The set of its other conversations; null where there are none. */
  others: z.number().nullable(),
  workspaceTop: z.number(),
  machineTop: z.number(),
})

/** A frozen file state: the topmost layer of each overlay, as the sandbox numbers them. */
export interface FilesState {
  workspace: number
  machine: number
}

/** A conversation as it stood at some moment. */
export const Pinned = z.object({
  conversation: z.string(),
  /** The last message's node; null for an empty one. */
  node: z.number().nullable(),
  format: StoredFormat,
})
export type Pinned = z.infer<typeof Pinned>

/** What a point holds of the pair. */
export interface Held {
  state: FilesState
  /** Every conversation that there was, `main` first. */
  conversations: readonly Pinned[]
}

const pinnedSet = json(z.array(Pinned))

export type PointPatch = Partial<Pick<Point, 'files' | 'verdict' | 'bytes' | 'ms' | 'running' | 'pinned' | 'host'>>

const missing = (session: string, id: string) =>
  new CheckpointNotFoundError(`This session holds no point ${id}.`, {
    nextStep: '`rewind checkpoint ls --all --branches` lists those that it holds.',
    data: { session, point: id },
  })

export function pointRepository(db: Database) {
  const points = table(db, 'points', storedPoint, ['session', 'id'])
  const rows = table(db, 'points', pointRow, ['session', 'id'])
  const list = db.prepare<[string]>('SELECT * FROM points WHERE session = ? ORDER BY seq')
  const next = db
    .prepare<[string], number>(
      'INSERT INTO pointNumbers (name, last) VALUES (?, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last',
    )
    .pluck()
  const reparent = db.prepare(
    'UPDATE points SET parent = @parent, files = NULL WHERE session = @session AND parent = @id',
  )
  const states = db.prepare<[string], FilesState>(
    'SELECT workspaceTop AS workspace, machineTop AS machine FROM points WHERE session = ? GROUP BY 1, 2 ORDER BY min(seq)',
  )
  const renameWorkspace = db.prepare('UPDATE points SET workspaceTop = ? WHERE session = ? AND workspaceTop = ?')
  const renameMachine = db.prepare('UPDATE points SET machineTop = ? WHERE session = ? AND machineTop = ?')
  const layerCount = db
    .prepare<[string], number>(
      'SELECT count(DISTINCT workspaceTop) + count(DISTINCT machineTop) FROM points WHERE session = ?',
    )
    .pluck()
  const remove = db.prepare('DELETE FROM points WHERE session = ? AND id = ?')
  const addSet = db.prepare('INSERT INTO conversationSets (hash, json) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const setId = db.prepare<[Buffer], number>('SELECT id FROM conversationSets WHERE hash = ?').pluck()
  const setOf = db.prepare<[number], string>('SELECT json FROM conversationSets WHERE id = ?').pluck()

  const storeSet = (pinned: readonly Pinned[]): number | null => {
    if (pinned.length === 0) return null
    const text = z.encode(pinnedSet, [...pinned])
    const key = hash('sha256', text, 'buffer')
    addSet.run(key, text)
    return setId.get(key) ?? null
  }

  return {
    insert: atomic(db, (point: Point, held: Held): void => {
      const main = held.conversations.find(({ conversation }) => conversation === MAIN)
      rows.insert({
        ...point,
        node: main?.node ?? null,
        format: main?.format ?? 'openai',
        others: storeSet(held.conversations.filter((one) => one !== main)),
        workspaceTop: held.state.workspace,
        machineTop: held.state.machine,
      })
    }),
    /** @throws CheckpointNotFoundError */
    update(session: string, id: string, patch: PointPatch): Point {
      const point = points.update([session, id], patch)
      if (!point) throw missing(session, id)
      return point
    },
    /** Oldest first. */
    list: (session: string): Point[] => list.all(session).map(points.read),
    /** @throws CheckpointNotFoundError */
    held(session: string, id: string): Held {
      const row = rows.get(session, id)
      if (!row) throw missing(session, id)
      const others = row.others === null ? [] : z.decode(pinnedSet, setOf.get(row.others) ?? '[]')
      return {
        state: { workspace: row.workspaceTop, machine: row.machineTop },
        conversations: [{ conversation: MAIN, node: row.node, format: row.format }, ...others],
      }
    },
    /**
     * Removes a point; those that hung below it hang below its parent, their changes uncounted.
     * @throws CheckpointNotFoundError
     */
    remove: atomic(db, (session: string, id: string): void => {
      const point = points.get(session, id)
      if (!point) throw missing(session, id)
      reparent.run({ session, id, parent: point.parent })
      remove.run(session, id)
    }),
    /** The file states of all points of a session, each once. */
    states: (session: string): FilesState[] => states.all(session),
    /** Layers have become others: points that name the first of two name the second. */
    renameLayers: atomic(db, (session: string, became: Record<keyof FilesState, readonly [number, number][]>): void => {
      for (const [from, to] of became.workspace) renameWorkspace.run(to, session, from)
      for (const [from, to] of became.machine) renameMachine.run(to, session, from)
    }),
    /** How many layers the session's points end at, of both overlays. */
    layerCount: (session: string): number => layerCount.get(session) ?? 0,
    /** The N of the next NAME-ckpt-N: counts up for ever, over all sessions of that name. */
    nextNumber: (name: string): number => next.get(name) ?? 1,
  }
}
