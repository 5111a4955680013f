/** Which files differ between the two states in view, and how. */
import { Pilcrow } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Group, Panel, Separator } from 'react-resizable-panels'
import { useStore } from 'zustand'
import { IconButton } from '../elements/button.tsx'
import { Counts } from '../elements/counts.tsx'
import { Loading, Nothing, Problem } from '../elements/problem.tsx'
import { Segments } from '../elements/segments.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'
import { remembered } from '../host/remembered.ts'
import { comparisonOf } from '../timeline/moments.ts'
import { NOW } from '../timeline/selection-store.ts'
import type { Layout } from './diff.tsx'
import { type Between, FileList, useArrangement } from './file-list.tsx'
import { FileView } from './file-view.tsx'
import { listed } from './listed.ts'
import { keyOf } from './path-key.ts'
import type { SeenChange } from './seen.ts'
import { firstFile, listOf, rowsOf, treeOf } from './tree.ts'

const layoutMemory = remembered('diff-layout')
const whitespaceMemory = remembered('diff-ignore-whitespace')

export function Changes() {
  const { rpc, selection: selectionStore } = useHost()
  const selection = useStore(selectionStore)
  const session = useSession((state) => state.id)
  const timeline = useSession((state) => state.timeline)
  const files = useSession((state) => state.files)
  const destroyed = useSession((state) => state.details?.status === 'destroyed')
  const [layout, setLayout] = useState<Layout>(layoutMemory.get() === 'split' ? 'split' : 'inline')
  const [ignoreWhitespace, setIgnoreWhitespace] = useState(whitespaceMemory.get() === 'yes')
  const [picked, setPicked] = useState<string | null>(null)

  const between = timeline ? comparisonOf(timeline, selection) : null
  const version = between?.to === NOW ? files : 0
  const asked = useAsked(
    session && between && !destroyed ? `${session} ${between.from} ${between.to}` : null,
    version,
    (signal) =>
      listed(rpc.files, { session: session ?? '', from: between?.from ?? '', to: between?.to ?? NOW }, signal),
  )
  useEffect(() => layoutMemory.set(layout), [layout])
  useEffect(() => whitespaceMemory.set(ignoreWhitespace ? 'yes' : 'no'), [ignoreWhitespace])

  if (!timeline || !session) return <Loading what="Loading" />
  const single = selection.moment !== NOW && selection.other === null
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-3 border-b border-line px-4">
        {single ? (
          <Segments
            label="Compare"
            value={selection.against}
            onChange={(against) => selectionStore.against(against)}
            choices={[
              { value: 'parent', text: 'In this step' },
              { value: 'now', text: 'Since this point' },
            ]}
          />
        ) : (
          <span className="text-small text-ink-2">
            {selection.other === null ? 'Since the last point' : 'Between the two'}
          </span>
        )}
        {asked.state === 'ready' ? <Counts counts={asked.value.counts} /> : null}
        <span className="flex-1" />
        <IconButton
          label="Ignore white space"
          pressed={ignoreWhitespace}
          onClick={() => setIgnoreWhitespace((now) => !now)}
        >
          <Pilcrow size={14} aria-hidden="true" />
        </IconButton>
        <Segments
          label="Layout"
          value={layout}
          onChange={setLayout}
          choices={[
            { value: 'inline', text: 'Inline' },
            { value: 'split', text: 'Side by side' },
          ]}
        />
      </header>
      <div className="min-h-0 flex-1">
        {destroyed ? (
          <Nothing title="The files are no longer held">
            The session was destroyed. Its timeline, messages, output and ledger stay.
          </Nothing>
        ) : between === null ? (
          <Nothing title="The workspace as it was">
            Choose “Since this point” to see everything that the session changed.
          </Nothing>
        ) : asked.state === 'loading' ? (
          <Loading what="Comparing" />
        ) : asked.state === 'failed' ? (
          <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
        ) : asked.value.changes.length === 0 ? (
          <Nothing title={emptyTitle(between.to === NOW, single)}>
            {single && between.to !== NOW ? (
              <WayOn onClick={() => selectionStore.against('now')}>See what changed since this point</WayOn>
            ) : single ? null : timeline.undo === null ? (
              'Choose a point of the timeline to see what it changed.'
            ) : (
              <WayOn onClick={() => selectionStore.select(timeline.undo ?? NOW)}>See what the last rewind left</WayOn>
            )}
          </Nothing>
        ) : (
          <Split
            changes={asked.value.changes}
            more={asked.value.more}
            between={{ session, ...between, version }}
            picked={picked}
            pick={setPicked}
            view={(change) => (
              <FileView
                key={`${between.from} ${between.to} ${keyOf(change)}`}
                session={session}
                change={change}
                from={between.from}
                to={between.to}
                version={version}
                layout={layout}
                ignoreWhitespace={ignoreWhitespace}
              />
            )}
          />
        )}
      </div>
    </div>
  )
}

const WayOn = ({ onClick, children }: { onClick(): void; children: string }) => (
  <button type="button" className="rounded text-accent hover:underline" onClick={onClick}>
    {children}
  </button>
)

function emptyTitle(toNow: boolean, single: boolean): string {
  if (!single && toNow) return 'Nothing changed since the last point'
  return toNow ? 'Nothing changed since this point' : 'No files changed here'
}

interface SplitProps {
  changes: SeenChange[]
  more: number
  between: Between
  picked: string | null
  pick(key: string): void
  view(change: SeenChange): React.ReactNode
}

function Split({ changes, more, between, picked, pick, view }: SplitProps) {
  const [arrangement, arrange] = useArrangement()
  const first = useMemo(
    () => firstFile(arrangement === 'tree' ? rowsOf(treeOf(changes)) : listOf(changes)),
    [changes, arrangement],
  )
  const shown = changes.find((change) => keyOf(change) === picked) ?? first
  const file = useRef<HTMLDivElement>(null)
  return (
    <Group orientation="horizontal" className="h-full">
      <Panel id="files" defaultSize={220} minSize={120} groupResizeBehavior="preserve-pixel-size">
        <FileList
          changes={changes}
          more={more}
          between={between}
          arrangement={arrangement}
          arrange={arrange}
          shown={shown ? keyOf(shown) : null}
          pick={pick}
          enter={() => file.current?.querySelector<HTMLElement>('section[tabindex="0"]')?.focus()}
        />
      </Panel>
      <Separator className="w-px bg-line outline-none data-[separator=active]:bg-accent data-[separator=hover]:bg-accent" />
      <Panel id="file" minSize={200}>
        <div ref={file} className="h-full">
          {shown ? view(shown) : null}
        </div>
      </Panel>
    </Group>
  )
}
