/** Two texts beside each other, or one in the other. */
import { useEffect, useState } from 'react'
import type { FilePair } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Loading, Problem } from '../elements/problem.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import { Card } from './card.tsx'
import type { Comparison } from './compare.ts'
import { compare, compareBytes } from './comparer.ts'
import { Diff, type Layout } from './diff.tsx'
import { whatChanged } from './letters.tsx'
import { notesOf } from './notes.ts'
import { type Place, placeKey, sidesOf } from './place.ts'
import { bytesOf, type FileRef } from './read-file.ts'
import type { SeenChange } from './seen.ts'

interface TextPairProps {
  before: string | null
  after: string | null
  change: SeenChange
  layout: Layout
  ignoreWhitespace: boolean
}

export function TextPair({ before, after, change, layout, ignoreWhitespace }: TextPairProps) {
  const comparison = useComparison(before ?? '', after ?? '', ignoreWhitespace)
  if (!comparison) return <Loading what="Comparing" />
  const sides = { before: before !== null, after: after !== null }
  return <Compared {...{ comparison, change, layout, ignoreWhitespace, sides }} />
}

interface LargeTextProps {
  place: Place
  pair: Extract<FilePair, { kind: 'large' }>
  layout: Layout
  ignoreWhitespace: boolean
  /** What is shown where it is no text. */
  otherwise: React.ReactNode
}

/** Read in parts and compared in the worker, which makes text of it: no step of it holds a key up. */
export function LargeText({ place, pair, layout, ignoreWhitespace, otherwise }: LargeTextProps) {
  const { rpc } = useHost()
  const sides = sidesOf(place, pair)
  const asked = useAsked(`${placeKey(place)} ${ignoreWhitespace} whole`, place.version, async (signal) => {
    const whole = async (side: FileRef | null) => (side ? bytesOf(rpc, side, signal) : new Uint8Array())
    const [before, after] = await Promise.all([whole(sides.before), whole(sides.after)])
    return compareBytes(before, after, { ignoreWhitespace })
  })
  if (asked.state === 'loading') return <Loading what="Comparing" />
  if (asked.state === 'failed')
    return <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
  if (asked.value === null) return otherwise
  const has = { before: sides.before !== null, after: sides.after !== null }
  return (
    <Compared
      comparison={asked.value}
      change={place.change}
      layout={layout}
      ignoreWhitespace={ignoreWhitespace}
      sides={has}
    />
  )
}

interface ComparedProps {
  comparison: Comparison
  change: SeenChange
  layout: Layout
  ignoreWhitespace: boolean
  /** On which of them the file is. */
  sides: { before: boolean; after: boolean }
}

function Compared({ comparison, change, layout, ignoreWhitespace, sides }: ComparedProps) {
  const notes = notesOf(comparison, sides, ignoreWhitespace)
  const silent = comparison.rows.every((row) => row.kind === 'same')
  if (silent && notes.length === 0)
    return (
      <Card
        title={
          comparison.rows.length === 0
            ? 'An empty file'
            : comparison.equal
              ? 'The text is the same'
              : 'Only white space differs'
        }
      >
        {whatChanged(change)}
      </Card>
    )
  return (
    <div className="flex h-full min-h-0 flex-col">
      {notes.length > 0 ? (
        <p className="shrink-0 border-b border-line bg-warn-soft px-3 py-1 text-small text-warn">{notes.join(' · ')}</p>
      ) : null}
      <div className="min-h-0 flex-1">
        <Diff
          comparison={comparison}
          layout={sides.before && sides.after ? layout : 'inline'}
          label={`Difference of ${visibleName(change.path)}`}
        />
      </div>
    </div>
  )
}

function useComparison(before: string, after: string, ignoreWhitespace: boolean): Comparison | null {
  const [found, setFound] = useState<{ of: readonly unknown[]; comparison: Comparison } | null>(null)
  useEffect(() => {
    let wanted = true
    void Promise.resolve(compare(before, after, { ignoreWhitespace })).then((comparison) => {
      if (wanted) setFound({ of: [before, after, ignoreWhitespace], comparison })
    })
    return () => {
      wanted = false
    }
  }, [before, after, ignoreWhitespace])
  const isOfThese = found && [before, after, ignoreWhitespace].every((one, at) => one === found.of[at])
  return isOfThese ? found.comparison : null
}
