/**
 * Where the lines run: the current line is lane 0, each branch takes the first lane that is free between its last
 * point and the point it hangs from. Pure; a row then knows all that is to be drawn in it.
 */
import { idsOf, type TimelineRow } from './rows.ts'

export interface RowLines {
  /** Lane of the row's own mark. */
  lane: number
  /** Whether the lane goes on above and below the mark. */
  up: boolean
  down: boolean
  /** Lanes that pass by from top to bottom. */
  through: number[]
  /** Lanes of branches that hang from this row: they come from the top and curve into the mark. */
  joins: number[]
}

export interface Lanes {
  rows: RowLines[]
  /** Lanes in use, at least one. */
  count: number
}

/** Branches beyond this share the last lane: a bundle is honest, a gutter as wide as the window is not. */
const MOST_LANES = 5

export function lanesOf(rows: readonly TimelineRow[]): Lanes {
  const rowOf = new Map(rows.flatMap((row, index) => idsOf(row).map((id) => [id, index] as const)))
  /** `bottom` is the row that it hangs from; null where that one is not shown. */
  const spans = new Map<string, { letter: string; top: number; last: number; bottom: number | null }>()
  rows.forEach((row, index) => {
    if (row.kind === 'now' || !row.branch) return
    const { letter, from } = row.branch
    const span = spans.get(letter)
    if (span) span.last = index
    else spans.set(letter, { letter, top: index, last: index, bottom: rowOf.get(from) ?? null })
  })

  const busyUntil: number[] = [rows.length]
  const laneOf = new Map<string, number>()
  for (const { letter, top, last, bottom } of spans.values()) {
    let lane = 1
    while (lane < MOST_LANES - 1 && (busyUntil[lane] ?? -1) >= top) lane++
    busyUntil[lane] = Math.max(busyUntil[lane] ?? -1, bottom ?? last)
    laneOf.set(letter, lane)
  }

  const lines = rows.map((row): RowLines => {
    const letter = row.kind === 'now' ? undefined : row.branch?.letter
    return { lane: letter ? (laneOf.get(letter) ?? 0) : 0, up: false, down: false, through: [], joins: [] }
  })
  const pass = (row: number, lane: number) => {
    const line = lines[row]
    if (!line) return
    if (line.lane === lane) {
      line.up = true
      line.down = true
    } else if (!line.through.includes(lane)) line.through.push(lane)
  }

  const lastOnLine = rows.findLastIndex((row) => row.kind === 'now' || !row.branch)
  run(lines, pass, 0, lastOnLine, 0)
  for (const { letter, top, last, bottom } of spans.values()) {
    const lane = laneOf.get(letter) ?? 1
    if (bottom === null) {
      run(lines, pass, top, last, lane)
      continue
    }
    const first = lines[top]
    if (first) first.down = true
    for (let row = top + 1; row < bottom; row++) pass(row, lane)
    const origin = lines[bottom]
    if (origin && bottom !== top && !origin.joins.includes(lane)) origin.joins.push(lane)
  }
  return { rows: lines, count: Math.max(1, ...[...laneOf.values()].map((lane) => lane + 1)) }
}

function run(lines: RowLines[], pass: (row: number, lane: number) => void, top: number, bottom: number, lane: number) {
  const first = lines[top]
  const last = lines[bottom]
  if (!first || !last || top === bottom) return
  first.down = true
  last.up = true
  for (let row = top + 1; row < bottom; row++) pass(row, lane)
}
