/**
 * The timeline and what each point cost, drawn: points from left to right in the order in which they were taken, the line
 * that stands on top, each branch in a lane below it, rewinds as arrows back, and under each point the time and the bytes
 * that it took. Long ones are written in bands, as music is.
 */
import { type Branch, branchesOf, bytes, currentLine, type Point, type Rewind } from '../contract/index.ts'
import { escapedName } from './html.ts'
import { duration } from './words.ts'

const WIDTH = 1000
const LEFT = 8
/** Points in a band, and bands of a report; of very many points more go into each. */
const IN_BAND = 60
/** A few points are not drawn as if there were room for as few alone. */
const LEAST_IN_BAND = 20
const MOST_BANDS = 24
const TOP = 44
const LANE = 20
/** Branches beyond this share the last lane. */
const MOST_LANES = 6
const BARS = 34
/** Wider apart than this there is room for a number over each mark, pixels. */
const ROOM_FOR_NUMBERS = 11

export interface Drawn {
  points: readonly Point[]
  head: string
  rewinds: readonly Rewind[]
  /** By a point's id: how it is numbered in the table below. */
  numbers: ReadonlyMap<string, number>
  /** As it may be shown. */
  nameOf(point: Point): string
}

interface Run {
  lane: number
  /** Index of the point it hangs from (its own first one for the line that stands), and of its last one. */
  from: number
  last: number
}

/** @returns figures, one for each band */
export function* drawing({ points, head, rewinds, numbers, nameOf }: Drawn): Generator<string> {
  const indexOf = new Map(points.map(({ id }, index) => [id, index]))
  const { runs, laneOf } = lanes(points, head, indexOf)
  const lowest = Math.max(0, ...runs.map(({ lane }) => lane))
  const perBand = Math.max(
    Math.min(IN_BAND, Math.max(LEAST_IN_BAND, points.length)),
    Math.ceil(points.length / MOST_BANDS),
  )
  const most = {
    ms: Math.max(1, ...points.map(({ ms }) => ms)),
    bytes: Math.max(1, ...points.map((p) => p.bytes ?? 0)),
  }
  for (let start = 0; start < points.length; start += perBand) {
    const end = Math.min(points.length, start + perBand)
    yield band({ points, start, end, perBand, runs, laneOf, lowest, rewinds, indexOf, numbers, most, nameOf })
  }
}

interface Band {
  points: readonly Point[]
  start: number
  end: number
  perBand: number
  runs: readonly Run[]
  laneOf: ReadonlyMap<string, number>
  lowest: number
  rewinds: readonly Rewind[]
  indexOf: ReadonlyMap<string, number>
  numbers: ReadonlyMap<string, number>
  most: { ms: number; bytes: number }
  nameOf(point: Point): string
}

function band(drawn: Band): string {
  const { points, start, end, perBand, runs, laneOf, lowest, rewinds, indexOf, numbers, most, nameOf } = drawn
  const step = (WIDTH - 2 * LEFT) / perBand
  const x = (index: number) => round(LEFT + (index - start + 0.5) * step)
  const y = (lane: number) => TOP + lane * LANE
  const right = round(LEFT + (end - start) * step)
  const inBand = (index: number) => index >= start && index < end
  const parts: string[] = []

  for (const { lane, from, last } of runs) {
    if (last < start || from >= end) continue
    const style = lane === 0 ? 's-line' : 's-lane'
    const origin = laneOf.get(points[from]?.id ?? '') ?? 0
    const stop = last < end ? x(last) : right
    // A branch curves out of the point that it hangs from, within the space to the next one.
    const path =
      lane === 0 || !inBand(from)
        ? `M${inBand(from) ? x(from) : LEFT} ${y(lane)}H${stop}`
        : `M${x(from)} ${y(origin)}C${round(x(from) + step * 0.6)} ${y(origin)} ${round(x(from) + step * 0.2)} ${y(lane)} ${round(x(from) + step * 0.9)} ${y(lane)}${stop > x(from) + step * 0.9 ? `H${stop}` : ''}`
    parts.push(`<path d="${path}" class="${style}" stroke-width="2"/>`)
  }

  const roomy = step >= ROOM_FOR_NUMBERS
  /** So far from the line an arrow ends: above the mark, and above its number where it has one. */
  const clear = (id: string) => (roomy && numbers.has(id) ? 20 : 9)
  for (const { leftAt, point } of rewinds) {
    const [from, to] = [indexOf.get(leftAt), indexOf.get(point)]
    if (from === undefined || to === undefined || !inBand(from)) continue
    const [fromX, fromY] = [x(from), y(laneOf.get(leftAt) ?? 0) - clear(leftAt)]
    const toX = inBand(to) ? x(to) : LEFT
    const toY = inBand(to) ? y(laneOf.get(point) ?? 0) - clear(point) : TOP - 12
    const top = Math.max(4, Math.min(fromY, toY) - 14)
    parts.push(
      `<path d="M${fromX} ${fromY}C${fromX} ${top} ${toX} ${top} ${toX} ${toY}" class="s-back" stroke-width="1.2"/>`,
      `<path d="M${toX} ${toY + 2}l-3 -5h6z" class="f-back"/>`,
    )
  }

  const ticks: Record<'s-line' | 's-lane', string> = { 's-line': '', 's-lane': '' }
  for (let index = start; index < end; index++) {
    const point = points[index]
    if (!point) continue
    const lane = laneOf.get(point.id) ?? 0
    const kind = shapeOf(point)
    if (kind === 'tick') {
      ticks[lane === 0 ? 's-line' : 's-lane'] += `M${x(index)} ${y(lane) - 4}v8`
      continue
    }
    const number = roomy ? numbers.get(point.id) : undefined
    const said = point.verdict ? `, ${point.verdict.status}` : ''
    parts.push(
      `<g transform="translate(${x(index)} ${y(lane)})"><title>${escapedName(nameOf(point))}${said}</title>${shape(kind, lane === 0)}${number === undefined ? '' : `<text y="-9" text-anchor="middle">${number}</text>`}</g>`,
    )
  }
  for (const [style, path] of Object.entries(ticks))
    if (path) parts.push(`<path d="${path}" class="${style}" stroke-width="1.5"/>`)

  const firstBase = y(lowest) + 20 + 12 + BARS
  const secondBase = firstBase + 14 + BARS
  const width = round(Math.max(1, Math.min(9, step * 0.6)))
  const bars = (base: number, value: (point: Point) => number, highest: number) => {
    let path = ''
    for (let index = start; index < end; index++) {
      const point = points[index]
      const cost = point ? value(point) : 0
      if (cost > 0) path += `M${x(index)} ${base}v-${round(Math.max(1, (cost / highest) * BARS))}`
    }
    return `<path d="M${LEFT} ${base}H${right}" class="s-rule"/><path d="${path}" class="s-bar" stroke-width="${width}"/>`
  }
  parts.push(
    `<text x="${LEFT}" y="${firstBase - BARS - 3}">time, up to ${duration(most.ms)}</text>`,
    bars(firstBase, ({ ms }) => ms, most.ms),
    `<text x="${LEFT}" y="${secondBase - BARS - 3}">bytes on disk, up to ${bytes(most.bytes === 1 ? 0 : most.bytes)}</text>`,
    bars(secondBase, (point) => point.bytes ?? 0, most.bytes),
  )
  const height = secondBase + 6
  const which =
    start === 0 && end === points.length ? 'all points' : `points ${start + 1} to ${end} of ${points.length}`
  return `<figure><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Timeline and cost, ${which}" fill="none">${parts.join('')}</svg></figure>\n`
}

function lanes(points: readonly Point[], head: string, indexOf: ReadonlyMap<string, number>) {
  const at = (id: string | undefined) => indexOf.get(id ?? '') ?? 0
  const line = currentLine(points, head)
  const laneOf = new Map(line.map(({ id }) => [id, 0]))
  const runs: Run[] = line.length > 0 ? [{ lane: 0, from: at(line[0]?.id), last: at(line.at(-1)?.id) }] : []
  const busyUntil: number[] = []
  const spans = branchesOf(points, head).map((branch: Branch<Point>) => ({
    branch,
    from: at(branch.from),
    last: at(branch.points.at(-1)?.id),
  }))
  for (const { branch, from, last } of spans.sort((a, b) => a.from - b.from)) {
    let lane = 1
    while (lane < MOST_LANES && (busyUntil[lane] ?? -1) >= from) lane++
    busyUntil[lane] = Math.max(busyUntil[lane] ?? -1, last)
    for (const { id } of branch.points) laneOf.set(id, lane)
    runs.push({ lane, from, last })
  }
  return { runs, laneOf }
}

export type Shape = 'base' | 'named' | 'tick' | 'tip' | 'pass' | 'fail' | 'unknown'

export function shapeOf({ verdict, kind, takenBy, pinned }: Point): Shape {
  if (verdict) return verdict.status
  if (kind === 'base' || kind === 'tip') return kind
  return takenBy === 'auto' && !pinned ? 'tick' : 'named'
}

/** Around 0, 0. A verdict is told by its shape; its colour only says it again. */
export function shape(kind: Shape, line: boolean): string {
  const [fill, stroke] = line ? ['f-line', 's-line'] : ['f-lane', 's-lane']
  const mark = 'class="s-page" stroke-width="1.6" stroke-linecap="round"'
  switch (kind) {
    case 'base':
      return `<path d="M-5 -5h10v10h-10z" class="${fill}"/>`
    case 'named':
      return `<circle r="4.5" class="${fill}"/>`
    case 'tick':
      return `<path d="M0 -4v8" class="${stroke}" stroke-width="1.5"/>`
    case 'tip':
      return `<circle r="3.5" class="f-page ${stroke}" stroke-width="2"/>`
    case 'pass':
      return `<circle r="6" class="f-ok"/><path d="M-2.8 .2l2 2l3.7 -4.2" ${mark}/>`
    case 'fail':
      return `<path d="M-2.6 -6h5.2l3.4 3.4v5.2l-3.4 3.4h-5.2l-3.4 -3.4v-5.2z" class="f-bad"/><path d="M-2.2 -2.2l4.4 4.4m0 -4.4l-4.4 4.4" ${mark}/>`
    case 'unknown':
      return `<path d="M0 -7l7 7l-7 7l-7 -7z" class="f-warn"/><path d="M-1.7 -1.4c0 -2.4 3.6 -2.3 3.5 0c0 1 -1.8 1 -1.8 2.4m0 2v.1" ${mark}/>`
  }
}

const round = (value: number): number => Math.round(value * 10) / 10
