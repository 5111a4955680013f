/**
 * Which points a session keeps. A pruned point is gone at once: its record in one transaction, with a ledger row, and
 * then the layers that nobody else needs. What processes hold, or a crash left, is freed when it is asked for again.
 */
import { CheckpointNotFoundError, InvalidOptionError, nameOf, type Point, type PruneResult } from '../contract/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { Commits } from './commits.ts'
import type { SessionContext } from './context.ts'
import { resolvePoint } from './moments.ts'
import type { Pair } from './pair.ts'
import type { Actor } from './pair-records.ts'

export class Retention {
  readonly #context: SessionContext
  readonly #pair: Pair
  readonly #commits: Pick<Commits, 'points'>
  readonly #measure: (sandbox: Sandbox) => Promise<number>
  /** Layers wait for the processes that hold them. */
  #waits = false

  /** @param measure what the session holds on disk, bytes */
  constructor(
    context: SessionContext,
    pair: Pair,
    commits: Pick<Commits, 'points'>,
    measure: (sandbox: Sandbox) => Promise<number>,
  ) {
    this.#context = context
    this.#commits = commits
    this.#pair = pair
    this.#measure = measure
  }

  /** Points that nothing protects, oldest first. */
  prunable(): Point[] {
    return this.#context.points.filter((point) => this.#protection(point) === null)
  }

  /** @throws CheckpointNotFoundError */
  pin(ref: string, on: boolean): Point {
    const point = resolvePoint(ref, this.#context.points, this.#context.row.head)
    this.#context.updatePoint(point.id, { pinned: on })
    return this.#context.point(point.id)
  }

  /**
   * Removes points for good, and frees what only they held.
   * @param choose what may go; those that are protected stay
   * @param why for the ledger, beside their names
   * @throws what the sandbox throws: the points are gone then, their layers are freed the next time
   */
  async prune(
    choose: (points: readonly Point[]) => readonly Point[],
    by: Actor,
    why: string | null = null,
  ): Promise<PruneResult> {
    const context = this.#context
    const sandbox = await context.layers()
    return context.gate.exclusive(async () => {
      const before = await this.#measure(sandbox)
      await this.#pair.recover(sandbox)
      const going = choose(context.points).filter((point) => this.#protection(point) === null)
      if (going.length > 0) this.#remove(going, by, why)
      const waits = await this.#free(sandbox)
      const children = context.points.filter((point) => point.files === null)
      for (const point of children) this.#pair.countLater(sandbox, point)
      const bytes = await this.#measure(sandbox)
      if (bytes !== context.bytes) {
        context.bytes = bytes
        context.raiseSummary()
      }
      return { removed: going.map(({ id }) => id), freed: Math.max(0, before - bytes), waits }
    })
  }

  /** The automatic points that are older than the newest so many. */
  async keepLast(count: number): Promise<void> {
    await this.prune(
      (points) => points.filter(({ kind, takenBy }) => kind === 'checkpoint' && takenBy === 'auto').slice(0, -count),
      'rule',
    )
  }

  /** All but the newest so many points, whatever branch they are on. */
  keep(count: number, by: Actor): Promise<PruneResult> {
    return this.prune((points) => (count === 0 ? points : points.slice(0, -count)), by)
  }

  /**
   * Points by name.
   * @throws CheckpointNotFoundError; InvalidOptionError for one that is protected: none is removed then
   */
  points(refs: readonly string[], by: Actor): Promise<PruneResult> {
    return this.prune((points) => {
      const found = refs.map((ref) => resolvePoint(ref, points, this.#context.row.head))
      for (const point of found) {
        const protection = this.#protection(point)
        if (protection === null) continue
        throw new InvalidOptionError(`${nameOf(point)} cannot be pruned: ${protection.why}.`, {
          nextStep: protection.nextStep,
          data: { point: point.id },
        })
      }
      return [...new Set(found)]
    }, by)
  }

  /** Frees what is still held of points that are gone. */
  gc(): Promise<PruneResult> {
    return this.prune(() => [], 'you')
  }

  /** Does what an earlier host may have left undone. */
  resume(): void {
    const context = this.#context
    context.quiet.later('free layers', async () => {
      const sandbox = await context.layers()
      await context.gate.exclusive(() => this.#free(sandbox))
    })
  }

  /** Goes on with what had to wait, once the session is quiet. */
  again(): void {
    if (!this.#waits) return
    this.#context.quiet.later('free layers', async () => {
      await this.gc()
    })
  }

  #protection(point: Point): { why: string; nextStep: string } | null {
    const { row, points } = this.#context
    if (point.kind === 'base') return { why: 'it is the workspace as it was', nextStep: 'Leave it out.' }
    if (point.id === row.head) return { why: 'the session stands there', nextStep: 'Rewind to another point first.' }
    if (point.pinned) return { why: 'it is pinned', nextStep: `\`rewind pin --off ${point.id}\` first.` }
    if (point.id === row.undo)
      return { why: 'undo goes there', nextStep: 'Take it after the next rewind, or undo this one.' }
    if (this.#commits.points.has(point.id))
      return {
        why: 'a commit that can be undone wrote it to the host',
        nextStep: 'Undo that commit first, or leave it out.',
      }
    const rule = row.rules.autoRollback
    if (rule && targetOf(rule.to, points, row.head) === point.id)
      return { why: 'the automatic rollback goes there', nextStep: 'Give the rule another target first.' }
    const { escalations } = this.#context.store
    const asked = escalations
      .open(this.#context.id)
      .some(
        ({ evidence }) =>
          point.id === evidence.since || targetOf(evidence.checkpoint ?? '', points, row.head) === point.id,
      )
    if (asked) return { why: 'an escalation may go back there', nextStep: '`rewind answer` decides it.' }
    return null
  }

  /** Children hang below what the point hung below; what they changed is counted anew. */
  #remove(going: readonly Point[], by: Actor, why: string | null): void {
    const context = this.#context
    context.durably(() => {
      for (const { id } of going) context.removePoint(id)
      context.appendLedger({
        eventType: 'prune',
        status: 'pruned',
        notes: `${going.length === 1 ? '1 point' : `${going.length} points`}: ${going.map(nameOf).join(', ')}${why === null ? '' : `; ${why}`}`,
        decidedBy: by,
      })
      context.raiseSummary()
    })
  }

  async #free(sandbox: Sandbox): Promise<boolean> {
    const { store, id } = this.#context
    const { became, waits } = await sandbox.prune(store.points.states(id))
    store.points.renameLayers(id, became)
    this.#waits = waits
    return waits
  }
}

/** The point that a rule's target is now; null where there is none yet. */
function targetOf(ref: string, points: readonly Point[], head: string): string | null {
  try {
    return resolvePoint(ref, points, head).id
  } catch (error) {
    if (error instanceof CheckpointNotFoundError) return null
    throw error
  }
}
