/**
 * What is drawn beside a row: lanes and the row's mark. Lines are two pixels wide on whole pixels, so that they are
 * crisp at any zoom. The mark's shape tells the verdict, so colour is never alone.
 */
import type { VerdictStatus } from '../../src-main/contract/index.ts'
import type { RowLines } from './lanes.ts'

const FIRST_PX = 20
const LANE_PX = 14

export const laneX = (lane: number): number => FIRST_PX + lane * LANE_PX
export const gutterWidth = (lanes: number): number => laneX(Math.max(lanes, 2) - 1) + 16

export type Mark = 'now' | 'busy' | 'base' | 'named' | 'tick' | 'fold' | 'tip' | VerdictStatus

interface GraphProps {
  lines: RowLines
  lanes: number
  height: number
  mark: Mark
}

export function Graph({ lines, lanes, height, mark }: GraphProps) {
  const width = gutterWidth(lanes)
  const middle = height / 2
  const x = laneX(lines.lane)
  const tone = lines.lane === 0 ? 'stroke-accent' : 'stroke-lane'
  return (
    <svg width={width} height={height} aria-hidden="true" className="pointer-events-none shrink-0" fill="none">
      <g strokeWidth={2} className="stroke-lane">
        {lines.joins.map((lane) => (
          <path key={lane} d={join(laneX(lane), x, middle)} />
        ))}
        {lines.through
          .filter((lane) => lane > 0)
          .map((lane) => (
            <path key={lane} d={`M${laneX(lane)} 0V${height}`} />
          ))}
      </g>
      {lines.through.includes(0) ? (
        <path d={`M${laneX(0)} 0V${height}`} strokeWidth={2} className="stroke-accent" />
      ) : null}
      {lines.up ? <path d={`M${x} 0V${middle}`} strokeWidth={2} className={tone} /> : null}
      {lines.down ? <path d={`M${x} ${middle}V${height}`} strokeWidth={2} className={tone} /> : null}
      <g transform={`translate(${x} ${middle})`}>
        <MarkShape mark={mark} line={lines.lane === 0} />
      </g>
    </svg>
  )
}

/** From the top of lane `from` into the mark at `to`. */
const join = (from: number, to: number, middle: number) =>
  `M${from} 0C${from} ${middle * 0.7} ${to + (from - to) * 0.35} ${middle} ${to} ${middle}`

function MarkShape({ mark, line }: { mark: Mark; line: boolean }) {
  const fill = line ? 'fill-accent' : 'fill-lane'
  const stroke = line ? 'stroke-accent' : 'stroke-lane'
  switch (mark) {
    case 'now':
    case 'busy':
      return (
        <>
          <circle r={6} className="fill-base stroke-accent" strokeWidth={2} />
          {mark === 'busy' ? <circle r={3} className="animate-breathe fill-accent" /> : null}
        </>
      )
    case 'base':
      return <rect x={-5} y={-5} width={10} height={10} rx={2} className={fill} />
    case 'named':
      return <circle r={5} className={fill} />
    case 'tick':
      return <path d="M-5 0H5" strokeWidth={2} className={stroke} />
    case 'fold':
      return <path d="M-4 -4H4M-4 0H4M-4 4H4" strokeWidth={2} className={stroke} />
    case 'tip':
      return <circle r={4} className={`fill-base ${stroke}`} strokeWidth={2} />
    case 'pass':
      return (
        <>
          <circle r={7} className={line ? 'fill-ok' : 'fill-lane'} />
          <path d="M-3.2 0.2L-0.9 2.5L3.4 -2.4" strokeWidth={1.8} className="stroke-base" strokeLinecap="round" />
        </>
      )
    case 'fail':
      return (
        <>
          <path d="M-3 -7H3L7 -3V3L3 7H-3L-7 3V-3Z" className="fill-bad" />
          <path
            d="M-2.6 -2.6L2.6 2.6M2.6 -2.6L-2.6 2.6"
            strokeWidth={1.8}
            className="stroke-base"
            strokeLinecap="round"
          />
        </>
      )
    case 'unknown':
      return (
        <>
          <path d="M0 -8L8 0L0 8L-8 0Z" className="fill-warn" />
          <path
            d="M-1.9 -1.6C-1.9 -4.4 2.2 -4.2 2 -1.6C1.9 -0.4 0 -0.4 0 1.2M0 3.6V3.8"
            strokeWidth={1.5}
            className="stroke-base"
            strokeLinecap="round"
          />
        </>
      )
  }
}
