/** Bytes around the first difference of two files, in hex and as ASCII. */
import { Fragment } from 'react'
import type { FilePair } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { size } from '../elements/format.ts'
import { Loading, Problem } from '../elements/problem.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import { firstDifference, type HexCell, type HexRow, hexRows } from './bytes.ts'
import type { Layout } from './diff.tsx'
import { type Place, placeKey, sidesOf } from './place.ts'
import { type FileRef, partOf } from './read-file.ts'

/** As wide as two of them beside each other can be in a pane. */
const PER_ROW = 8
const SHOWN_BYTES = 1024
/** Stands before the first difference. */
const LEAD_BYTES = 4 * PER_ROW
const STEP_BYTES = 1 << 20
/** A difference further in is not looked for. */
const SOUGHT_BYTES = 32 << 20

interface HexViewProps {
  place: Place
  layout: Layout
  pair: Extract<FilePair, { kind: 'binary' | 'large' }>
}

export function HexView({ place, pair, layout }: HexViewProps) {
  const { rpc } = useHost()
  const sides = sidesOf(place, pair)
  const asked = useAsked(`${placeKey(place)} bytes`, place.version, async (signal) => {
    const part = (side: FileRef | null, offset: number, limit: number) =>
      side ? partOf(rpc, side, { offset, limit }, signal) : new Uint8Array()
    const both = (offset: number, limit: number) =>
      Promise.all([part(sides.before, offset, limit), part(sides.after, offset, limit)])
    let first: number | null = null
    if (sides.before && sides.after)
      for (let at = 0; first === null && at < SOUGHT_BYTES; at += STEP_BYTES) {
        const [before, after] = await both(at, STEP_BYTES)
        const found = firstDifference(before, after)
        if (found !== null) first = at + found
        else if (before.length < STEP_BYTES) break
      }
    const from = Math.max(0, Math.floor((first ?? 0) / PER_ROW) * PER_ROW - LEAD_BYTES)
    return { first, from, parts: await both(from, SHOWN_BYTES) }
  })
  if (asked.state === 'loading') return <Loading what="Reading" />
  if (asked.state === 'failed')
    return <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
  const { first, from, parts } = asked.value
  const both = sides.before !== null && sides.after !== null
  const rows = hexRows(...parts, from, PER_ROW)
  return (
    <div className="flex h-full min-h-0 flex-col">
      <p className="flex shrink-0 flex-wrap gap-x-3 border-b border-line px-3 py-1 text-small text-ink-2">
        <span>
          {both ? `${size(pair.before ?? 0)} → ${size(pair.after ?? 0)}` : size(pair.before ?? pair.after ?? 0)}
        </span>
        {both ? (
          <span>
            {first === null
              ? `no difference in the first ${size(SOUGHT_BYTES)}`
              : `first difference at ${first.toLocaleString('en-US')} (0x${first.toString(16)})`}
          </span>
        ) : null}
      </p>
      <section
        aria-label={`Bytes of ${visibleName(place.change.path)}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by key
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto px-3 py-2"
      >
        <table className="border-separate border-spacing-0 font-mono text-code leading-5 whitespace-pre select-text">
          <thead className="sr-only">
            <tr>
              <th>Offset</th>
              {both && layout === 'inline' ? <th>Bytes</th> : null}
              {sides.before && !(both && layout === 'inline') ? <th>Before</th> : null}
              {sides.after && !(both && layout === 'inline') ? <th>After</th> : null}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) =>
              both && layout === 'inline' ? (
                <Lines key={row.offset} row={row} />
              ) : (
                <tr key={row.offset}>
                  <Offset>{row.offset}</Offset>
                  {sides.before ? <Bytes cells={row.before} mark={both ? 'bg-del-mark' : ''} /> : null}
                  {sides.after ? <Bytes cells={row.after} mark={both ? 'bg-add-mark' : ''} /> : null}
                </tr>
              ),
            )}
          </tbody>
        </table>
      </section>
    </div>
  )
}

const Offset = ({ children }: { children: string }) => <td className="pr-4 text-ink-3 select-none">{children}</td>

/** One below the other where they differ. */
function Lines({ row }: { row: HexRow }) {
  const differs = [...row.before, ...row.after].some((cell) => cell.differs)
  if (!differs)
    return (
      <tr>
        <Offset>{`  ${row.offset}`}</Offset>
        <Bytes cells={row.after} mark="" />
      </tr>
    )
  return (
    <>
      {row.before.length > 0 ? (
        <tr className="bg-del">
          <Offset>{`− ${row.offset}`}</Offset>
          <Bytes cells={row.before} mark="bg-del-mark" />
        </tr>
      ) : null}
      {row.after.length > 0 ? (
        <tr className="bg-add">
          <Offset>{`+ ${row.offset}`}</Offset>
          <Bytes cells={row.after} mark="bg-add-mark" />
        </tr>
      ) : null}
    </>
  )
}

function Bytes({ cells, mark }: { cells: readonly HexCell[]; mark: string }) {
  const rest = PER_ROW - cells.length
  const draw = (of: 'hex' | 'char') =>
    cells.map((cell, n) => (
      <Fragment key={n}>
        {cell.differs && mark ? <mark className={`font-bold text-inherit ${mark}`}>{cell[of]}</mark> : cell[of]}
        {of === 'hex' ? ' ' : ''}
      </Fragment>
    ))
  return (
    <td className="pr-6">
      {draw('hex')}
      {' '.repeat(3 * rest + 1)}
      <span className="text-ink-2">{draw('char')}</span>
      {' '.repeat(rest)}
    </td>
  )
}
