/** The timeline's points, each with what it holds: the layers of its files and the last message of its history. */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { CheckpointNotFoundError, FileCounts, Point, Verdict } from '../contract/index.ts'
import { atomic } from './database.ts'
import { type FilesState, layerRepository } from './layers.ts'
import { flag, json, table, time } from './table.ts'

const storedPoint = Point.extend({
  at: time,
  files: json(FileCounts).nullable(),
  running: json(z.array(z.string())),
  pinned: flag,
  verdict: json(Verdict.extend({ at: time })).nullable(),
  coverage: json(Point.shape.coverage),
})

const pointRow = storedPoint.extend({
  node: z.string().nullable(),
  workspaceTop: z.number().nullable(),
  machineTop: z.number().nullable(),
})

/** What a point holds of the pair. */
export interface Held {
  state: FilesState
  /** The last message's node of the main conversation; null for an empty one. */
  node: string | null
}

export type PointPatch = Partial<Pick<Point, 'files' | 'verdict' | 'bytes' | 'ms' | 'running' | 'pinned'>>

const missing = (session: string, id: string) =>
  new CheckpointNotFoundError(`This session holds no point ${id}.`, {
    nextStep: '`rewind checkpoint ls --all --branches` lists those that it holds.',
    data: { session, point: id },
  })

export function pointRepository(db: Database) {
  const points = table(db, 'points', storedPoint, ['session', 'id'])
  const rows = table(db, 'points', pointRow, ['session', 'id'])
  const layers = layerRepository(db)
  const list = db.prepare<[string]>('SELECT * FROM points WHERE session = ? ORDER BY seq')
  const next = db
    .prepare<[string], number>(
      'INSERT INTO pointNumbers (name, last) VALUES (?, 1) ON CONFLICT DO UPDATE SET last = last + 1 RETURNING last',
    )
    .pluck()
  const reparent = db.prepare(
    'UPDATE points SET parent = @parent, files = NULL WHERE session = @session AND parent = @id',
  )
  const remove = db.prepare('DELETE FROM points WHERE session = ? AND id = ?')

  return {
    insert: atomic(db, (point: Point, held: Held): void => {
      rows.insert({
        ...point,
        node: held.node,
        workspaceTop: layers.save(point.session, 'workspace', held.state.workspace),
        machineTop: layers.save(point.session, 'machine', held.state.machine),
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
      return {
        state: {
          workspace: layers.load(session, 'workspace', row.workspaceTop),
          machine: layers.load(session, 'machine', row.machineTop),
        },
        node: row.node,
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
    /** Layers that went into the one beneath them, and those that no point stands on any more, are known no longer. */
    freeLayers: atomic(db, (session: string, folded: FilesState): void => {
      for (const overlay of ['workspace', 'machine'] as const)
        for (const number of folded[overlay]) layers.fold(session, overlay, number)
      layers.dropUnheld(session)
    }),
    /** How many layers the session's points hold, of both overlays, each counted once. */
    layerCount: (session: string): number => layers.count(session),
    /** The N of the next NAME-ckpt-N: counts up for ever, over all sessions of that name. */
    nextNumber: (name: string): number => next.get(name) ?? 1,
  }
}
