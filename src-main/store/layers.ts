/**
 * The stacks of layers that points hold. A stack is a chain: each layer stands on one other and never on another one, so
 * a point stores its top and a new point costs the layers that are new, however deep the stack.
 */
import type { Database } from 'better-sqlite3'
import { InternalError } from '../contract/index.ts'

/** A frozen file state: the layers of both overlays, top first. */
export interface FilesState {
  workspace: readonly number[]
  machine: readonly number[]
}

export type Overlay = keyof FilesState

export function layerRepository(db: Database) {
  const insert = db.prepare('INSERT INTO layers (session, overlay, number, parent) VALUES (?, ?, ?, ?)')
  const parentOf = db
    .prepare<[string, string, number], number | null>(
      'SELECT parent FROM layers WHERE session = ? AND overlay = ? AND number = ?',
    )
    .pluck()
  const count = db.prepare<[string], number>('SELECT count(*) FROM layers WHERE session = ?').pluck()
  const chain = db
    .prepare<[{ session: string; overlay: Overlay; top: number }], number>(
      `WITH RECURSIVE stack (number, parent, depth) AS (
         SELECT number, parent, 0 FROM layers WHERE session = @session AND overlay = @overlay AND number = @top
         UNION ALL
         SELECT below.number, below.parent, depth + 1 FROM stack JOIN layers AS below
           ON below.session = @session AND below.overlay = @overlay AND below.number = stack.parent
       ) SELECT number FROM stack ORDER BY depth`,
    )
    .pluck()
  const endAt = (overlay: Overlay) =>
    db.prepare(`UPDATE points SET ${overlay}Top = @parent WHERE session = @session AND ${overlay}Top = @number`)
  const endAtParent = { workspace: endAt('workspace'), machine: endAt('machine') }
  const standOnParent = db.prepare(
    'UPDATE layers SET parent = @parent WHERE session = @session AND overlay = @overlay AND parent = @number',
  )
  const remove = db.prepare('DELETE FROM layers WHERE session = ? AND overlay = ? AND number = ?')
  const dropTops = db.prepare(`
    DELETE FROM layers AS layer WHERE session = ?
      AND NOT EXISTS (SELECT 1 FROM layers AS above
        WHERE above.session = layer.session AND above.overlay = layer.overlay AND above.parent = layer.number)
      AND NOT EXISTS (SELECT 1 FROM points
        WHERE points.session = layer.session
          AND layer.number = CASE layer.overlay WHEN 'workspace' THEN workspaceTop ELSE machineTop END)`)

  return {
    /**
     * Stores what is new of a stack. @returns its top; null for an empty one
     * @throws InternalError where a layer is known to stand on another one
     */
    save(session: string, overlay: Overlay, stack: readonly number[]): number | null {
      const fresh: [number, number | null][] = []
      for (const [index, number] of stack.entries()) {
        const below = stack[index + 1] ?? null
        const known = parentOf.get(session, overlay, number)
        if (known === undefined) {
          fresh.push([number, below])
          continue
        }
        if (known !== below)
          throw new InternalError(
            `Layer ${number} of the ${overlay} overlay stands on ${known ?? 'nothing'}, not on ${below ?? 'nothing'}.`,
            { data: { session, overlay, stack: [...stack] } },
          )
        break
      }
      for (const [number, below] of fresh.reverse()) insert.run(session, overlay, number, below)
      return stack[0] ?? null
    },
    /** What stood on a layer, or ended at it, does so on the one beneath: the two are one. */
    fold(session: string, overlay: Overlay, number: number): void {
      const parent = parentOf.get(session, overlay, number)
      if (parent === undefined) return
      endAtParent[overlay].run({ session, number, parent })
      standOnParent.run({ session, overlay, number, parent })
      remove.run(session, overlay, number)
    },
    /** Forgets layers that no point stands on. */
    dropUnheld(session: string): void {
      while (dropTops.run(session).changes > 0);
    },
    /** How many layers the points of a session hold, of both overlays. */
    count: (session: string): number => count.get(session) ?? 0,
    /** Top first. */
    load: (session: string, overlay: Overlay, top: number | null): number[] =>
      top === null ? [] : chain.all({ session, overlay, top }),
  }
}
