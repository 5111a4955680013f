/**
 * What a session may hold on disk. Near its budget it says what goes next; over it, automatic points go first, then named
 * ones by age, each only after it was announced. What is protected (retention.ts) stays whatever it takes.
 */
import { nameOf, type Point } from '../contract/index.ts'
import { bytes, visibleName } from '../contract/text.ts'
import type { SessionContext } from './context.ts'
import type { Retention } from './retention.ts'

/** From this share of the budget on it is said what goes next; so much is left when something went. */
const NEAR = 0.9
/** Points that are named in an announcement. */
const NAMED = 3

export class Budget {
  readonly #context: SessionContext
  readonly #retention: Retention
  /** Ids of the named points that may go without a further word. */
  #announced: ReadonlySet<string> = new Set()

  constructor(context: SessionContext, retention: Retention) {
    this.#context = context
    this.#retention = retention
  }

  /** Looks at what the session holds now, and prunes where that is too much. */
  async keep(): Promise<void> {
    const context = this.#context
    const { budgetBytes: limit } = context.row.rules.retention
    const isOver = (): boolean => limit !== null && (context.bytes ?? 0) > limit
    // Points hold what they do not share, which is known when they are gone: more are tried while that was not enough.
    for (let count = 1; isOver(); count *= 2) {
      const going = this.#next(count, (context.bytes ?? 0) - (limit ?? 0) * NEAR)
      if (going.length === 0) break
      const ids = new Set(going.map(({ id }) => id))
      const why = `the session held more than its ${bytes(limit ?? 0)}`
      const { waits } = await this.#retention.prune((points) => points.filter(({ id }) => ids.has(id)), 'rule', why)
      // Processes hold what these points held; more of them would free as little.
      if (waits) break
    }
    this.#announce(limit)
  }

  /** @param least how many at least @param enough bytes that are to be freed, as far as points know what they hold */
  #next(least: number, enough: number): Point[] {
    const going: Point[] = []
    let sum = 0
    for (const point of inOrder(this.#retention.prunable())) {
      if (!isAutomatic(point) && !this.#announced.has(point.id)) continue
      if (going.length >= least && sum >= enough) break
      going.push(point)
      sum += point.bytes ?? 0
    }
    return going
  }

  #announce(limit: number | null): void {
    const context = this.#context
    const held = context.bytes ?? 0
    const isNear = limit !== null && held > limit * NEAR
    const next = isNear ? inOrder(this.#retention.prunable()) : []
    this.#announced = new Set(next.filter((point) => !isAutomatic(point)).map(({ id }) => id))
    const notice = isNear ? inWords(held, limit, next) : null
    if (notice === context.notice) return
    context.notice = notice
    context.raiseSummary()
  }
}

/** Tips that rewinds left are automatic too. */
const isAutomatic = ({ takenBy }: Point): boolean => takenBy === 'auto'

/** Automatic ones first, older ones before newer ones. */
const inOrder = (points: readonly Point[]): Point[] => [
  ...points.filter(isAutomatic),
  ...points.filter((point) => !isAutomatic(point)),
]

function inWords(held: number, limit: number, next: readonly Point[]): string {
  const used = `It holds ${bytes(held)} on disk, of ${bytes(limit)} that it may.`
  const remedy = '`rewind pin` keeps a point, `rewind prune --budget SIZE` gives it more room.'
  if (next.length === 0)
    return `${used} Nothing is left that may be pruned: unpin points, or give it more room with \`rewind prune --budget SIZE\`.`
  const names = next.slice(0, NAMED).map((point) => visibleName(nameOf(point)))
  const more = next.length > NAMED ? ` and ${next.length - NAMED} more` : ''
  return `${used} When it is full, these points are pruned: ${names.join(', ')}${more}. ${remedy}`
}
