/** One file's two sides: a text diff where there is one to draw, and an honest card where not. */
import { useMemo, useState } from 'react'
import type { FilePair } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Button } from '../elements/button.tsx'
import { size } from '../elements/format.ts'
import { Loading, Problem } from '../elements/problem.tsx'
import { Segments } from '../elements/segments.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import { Card } from './card.tsx'
import type { Layout } from './diff.tsx'
import { ImageView } from './image-view.tsx'
import { whatChanged } from './letters.tsx'
import { Media } from './media.tsx'
import { type Place, pathsOf, placeKey } from './place.ts'
import { Save } from './save.tsx'
import type { SeenChange } from './seen.ts'
import { isSvg } from './sniff.ts'
import { LargeText, TextPair } from './text-pair.tsx'

interface FileViewProps {
  session: string
  change: SeenChange
  from: string
  to: string
  version: number
  layout: Layout
  ignoreWhitespace: boolean
}

export function FileView({ session, change, from, to, version, layout, ignoreWhitespace }: FileViewProps) {
  const { rpc } = useHost()
  const [anyway, setAnyway] = useState(false)
  const isFile = change.kind === 'file' || change.kind === 'symlink'
  const { path } = change
  const place: Place = { session, change, from, to, version }
  const asked = useAsked(isFile ? placeKey(place) : null, version, (signal) =>
    rpc.files.pair({ session, ...pathsOf(change), from, to }, { signal }),
  )
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-7 shrink-0 items-center gap-2 border-b border-line pr-1 pl-3 text-small">
        <span className="min-w-0 truncate-start font-mono text-code" title={visibleName(path)}>
          <bdi>{visibleName(path)}</bdi>
        </span>
        <span
          className={`text-ink-3 ${change.was ? 'min-w-16 shrink-[99] truncate' : 'shrink-0'}`}
          title={change.was ? whatChanged(change) : undefined}
        >
          {whatChanged(change)}
        </span>
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
            place={place}
            layout={layout}
            ignoreWhitespace={ignoreWhitespace}
            anyway={anyway}
            showAnyway={() => setAnyway(true)}
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
  /** A person wants to see it, however large it is. */
  anyway: boolean
  showAnyway(): void
}

function Pair({ pair, place, layout, ignoreWhitespace, anyway, showAnyway }: PairProps) {
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
          large={(bytes) =>
            anyway ? (
              <LargeText
                place={place}
                pair={pair}
                layout={layout}
                ignoreWhitespace={ignoreWhitespace}
                otherwise={bytes}
              />
            ) : (
              <Card title="A large file">
                <Sides before={sized(pair.before)} after={sized(pair.after)} />
                <Button onClick={showAnyway} className="mt-3">
                  Show anyway
                </Button>
              </Card>
            )
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
