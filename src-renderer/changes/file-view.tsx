/** One file's two sides: a text diff where there is one to draw, and an honest card where not. */
import { useEffect, useMemo, useState } from 'react'
import type { Change, FilePair } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Button } from '../elements/button.tsx'
import { size } from '../elements/format.ts'
import { Loading, Problem } from '../elements/problem.tsx'
import { Segments } from '../elements/segments.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import type { Comparison } from './compare.ts'
import { compare } from './comparer.ts'
import { Diff, type Layout } from './diff.tsx'
import { ImageView } from './image-view.tsx'
import { wordOf } from './letters.tsx'
import { Media } from './media.tsx'
import { notesOf } from './notes.ts'
import type { Place } from './place.ts'
import { Save } from './save.tsx'
import { isSvg } from './sniff.ts'

interface FileViewProps {
  session: string
  change: Change
  from: string
  to: string
  version: number
  layout: Layout
  ignoreWhitespace: boolean
}

export function FileView({ session, change, from, to, version, layout, ignoreWhitespace }: FileViewProps) {
  const { rpc } = useHost()
  const [whole, setWhole] = useState(false)
  const isFile = change.kind === 'file' || change.kind === 'symlink'
  const { path, rawPath } = change
  const asked = useAsked(isFile ? `${session} ${from} ${to} ${path} ${whole}` : null, version, (signal) =>
    rpc.files.pair({ session, path, rawPath, from, to, whole }, { signal }),
  )
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-7 shrink-0 items-center gap-2 border-b border-line pr-1 pl-3 text-small">
        <span className="min-w-0 truncate-start font-mono text-code" title={visibleName(path)}>
          <bdi>{visibleName(path)}</bdi>
        </span>
        <span className="shrink-0 text-ink-3">{wordOf(change)}</span>
        <span className="flex-1" />
        {change.kind === 'file' ? <Save session={session} change={change} from={from} to={to} /> : null}
      </div>
      <div className="min-h-0 flex-1">
        {!isFile ? (
          <Card title={change.kind === 'folder' ? 'A folder' : 'A special file'}>{whatChanged(change)}</Card>
        ) : asked.state === 'loading' ? (
          <Loading what="Reading" />
        ) : asked.state === 'failed' ? (
          <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
        ) : (
          <Pair
            pair={asked.value}
            place={{ session, change, from, to, version }}
            layout={layout}
            ignoreWhitespace={ignoreWhitespace}
            showAnyway={() => setWhole(true)}
          />
        )}
      </div>
    </div>
  )
}

interface PairProps {
  pair: FilePair
  place: Place
  layout: Layout
  ignoreWhitespace: boolean
  showAnyway(): void
}

function Pair({ pair, place, layout, ignoreWhitespace, showAnyway }: PairProps) {
  switch (pair.kind) {
    case 'text': {
      const { before, after } = pair
      const text = (
        <TextPair
          before={before}
          after={after}
          change={place.change}
          layout={layout}
          ignoreWhitespace={ignoreWhitespace}
        />
      )
      const isDrawn = [before, after].every((side) => side === null || isSvg(side))
      return isDrawn ? <Drawn before={before} after={after} text={text} /> : text
    }
    case 'symlink':
      return (
        <Card title="A symbolic link">
          <Sides before={pair.before} after={pair.after} />
        </Card>
      )
    case 'binary':
      return <Media place={place} pair={pair} layout={layout} />
    case 'large':
      return (
        <Media
          place={place}
          pair={pair}
          layout={layout}
          large={
            <Card title="A large file">
              <Sides before={sized(pair.before)} after={sized(pair.after)} />
              <Button onClick={showAnyway} className="mt-3">
                Show anyway
              </Button>
            </Card>
          }
        />
      )
  }
}

interface DrawnProps {
  before: string | null
  after: string | null
  text: React.ReactNode
}

const asPicture = (text: string | null): Blob | null =>
  text === null ? null : new Blob([text], { type: 'image/svg+xml' })

/** A picture that is text, too. */
function Drawn({ before, after, text }: DrawnProps) {
  const [as, setAs] = useState<'picture' | 'text'>('picture')
  const pictures = useMemo(() => ({ before: asPicture(before), after: asPicture(after) }), [before, after])
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-9 shrink-0 items-center border-b border-line px-3">
        <Segments
          label="Show as"
          value={as}
          onChange={setAs}
          choices={[
            { value: 'picture', text: 'Picture' },
            { value: 'text', text: 'Text' },
          ]}
        />
      </div>
      <div className="min-h-0 flex-1">{as === 'picture' ? <ImageView {...pictures} otherwise={text} /> : text}</div>
    </div>
  )
}

const sized = (bytes: number | null): string | null => (bytes === null ? null : size(bytes))

function Sides({ before, after }: { before: string | null; after: string | null }) {
  return (
    <span className="flex flex-wrap items-center justify-center gap-2 font-mono text-code">
      <span>{before === null ? 'nothing' : visibleName(before)}</span>
      <span className="text-ink-3">→</span>
      <span>{after === null ? 'nothing' : visibleName(after)}</span>
    </span>
  )
}

/** In words; for permissions also which. */
function whatChanged(change: Change): string {
  const { modes } = change
  if (!modes || modes.before === null || modes.after === null) return wordOf(change)
  return `${wordOf(change)} ${octal(modes.before)} to ${octal(modes.after)}`
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

function Card({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-1 p-6 text-center">
      <p className="text-ink-2">{title}</p>
      <div className="max-w-full break-words">{children}</div>
    </div>
  )
}

interface TextPairProps {
  before: string | null
  after: string | null
  change: Change
  layout: Layout
  ignoreWhitespace: boolean
}

function TextPair({ before, after, change, layout, ignoreWhitespace }: TextPairProps) {
  const comparison = useComparison(before ?? '', after ?? '', ignoreWhitespace)
  if (!comparison) return <Loading what="Comparing" />
  const notes = notesOf(comparison, before, after, ignoreWhitespace)
  const silent = comparison.rows.every((row) => row.kind === 'same')
  if (silent && notes.length === 0)
    return (
      <Card
        title={
          before === '' || after === ''
            ? 'An empty file'
            : before === after
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
          layout={before === null || after === null ? 'inline' : layout}
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
