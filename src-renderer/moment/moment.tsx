/** The right half: what was selected, and its views. The band across its top says when this is not now. */
import { Tabs } from 'radix-ui'
import type { ReactNode } from 'react'
import { pointHostNotice } from '../../src-main/contract/host-words.ts'
import type { Point } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { isLive } from '../../src-main/contract/timeline.ts'
import { AgentCalls } from '../agent/agent-calls.tsx'
import { Changes } from '../changes/changes.tsx'
import { Ago } from '../elements/ago.tsx'
import { Boundary } from '../elements/boundary.tsx'
import { Key } from '../elements/button.tsx'
import { Name } from '../elements/text.tsx'
import { useHost, useSelection, useSession } from '../host/context.ts'
import { Ledger } from '../ledger/ledger.tsx'
import { Messages } from '../messages/messages.tsx'
import { Output } from '../output/output.tsx'
import { Processes } from '../processes/processes.tsx'
import { momentName, ordered, pointOf } from '../timeline/moments.ts'
import { VerdictWord } from '../timeline/row.tsx'
import { atNow, type PaneTab } from '../timeline/selection-store.ts'
import { takenBy } from '../timeline/words.ts'
import { Coverage } from './coverage.tsx'

export function MomentPane() {
  const { selection } = useHost()
  const tab = useSelection((state) => state.tab)
  const commands = useSession((state) => state.commands.length)
  const processes = useSession((state) => state.details?.processes.length ?? 0)
  const rows = useSession((state) => state.ledger.length)
  const calls = useSession((state) => state.toolCalls.length)
  return (
    <section aria-label="Moment" className="flex h-full min-h-0 flex-col">
      <MomentHeader />
      <Tabs.Root
        value={tab}
        onValueChange={(value) => selection.tab(value as PaneTab)}
        className="flex min-h-0 flex-1 flex-col"
      >
        <Tabs.List aria-label="Views" className="flex h-9 shrink-0 items-stretch gap-1 border-b border-line px-3">
          <Tab value="changes">Changes</Tab>
          <Tab value="messages">Messages</Tab>
          <Tab value="output" count={commands}>
            Output
          </Tab>
          {calls > 0 || tab === 'agent' ? (
            <Tab value="agent" count={calls}>
              Agent
            </Tab>
          ) : null}
          <Tab value="ledger" count={rows}>
            Ledger
          </Tab>
          <Tab value="processes" count={processes}>
            Processes
          </Tab>
        </Tabs.List>
        <Pane value="changes" name="Changes">
          <Changes />
        </Pane>
        <Pane value="messages" name="Messages">
          <Messages />
        </Pane>
        <Pane value="output" name="Output">
          <Output />
        </Pane>
        <Pane value="agent" name="Agent">
          <AgentCalls />
        </Pane>
        <Pane value="ledger" name="Ledger">
          <Ledger />
        </Pane>
        <Pane value="processes" name="Processes">
          <Processes />
        </Pane>
      </Tabs.Root>
    </section>
  )
}

function Tab({ value, count, children }: { value: PaneTab; count?: number; children: string }) {
  return (
    <Tabs.Trigger
      value={value}
      aria-label={children}
      className="relative flex items-center gap-1.5 px-2 text-ink-2 hover:text-ink data-[state=active]:font-medium data-[state=active]:text-ink data-[state=active]:after:absolute data-[state=active]:after:inset-x-2 data-[state=active]:after:-bottom-px data-[state=active]:after:h-0.5 data-[state=active]:after:bg-accent"
    >
      {children}
      {count === undefined ? null : (
        // Takes its place before there is anything to count, so that the tabs beside it stay where they are.
        <span className="min-w-[2ch] text-left text-small font-normal text-ink-3">{count || ''}</span>
      )}
    </Tabs.Trigger>
  )
}

function Pane({ value, name, children }: { value: PaneTab; name: string; children: ReactNode }) {
  return (
    <Tabs.Content value={value} tabIndex={-1} className="min-h-0 flex-1 outline-none" asChild>
      <section aria-label={name}>
        <Boundary name={name}>{children}</Boundary>
      </section>
    </Tabs.Content>
  )
}

/** Who and why; where a verifier spoke, what it said. */
const factsOf = (point: Point): string[] =>
  [takenBy(point), point.verdict?.text ?? (point.kind === 'tip' ? '' : point.why) ?? '', pointHostNotice(point) ?? '']
    .filter(Boolean)
    .map((fact) => visibleName(fact.replace(/\s+/g, ' ')))

function MomentHeader() {
  const { selection } = useHost()
  const timeline = useSession((state) => state.timeline)
  const moment = useSelection((state) => state.moment)
  const other = useSelection((state) => state.other)
  const point = other === null ? pointOf(timeline, moment) : null
  const now = atNow({ moment, other })
  const live = useSession((state) => state.details === null || isLive(state.details))
  const [from, to] = timeline && other !== null ? ordered(timeline, moment, other) : [moment, null]
  return (
    <header
      className={`flex h-9 shrink-0 items-center gap-2 border-b px-4 ${now ? 'border-line' : 'border-accent-line bg-accent-soft'}`}
    >
      <h2 className="flex max-w-[65%] min-w-0 shrink-0 items-center gap-1.5 font-semibold">
        <Name>{momentName(timeline, from)}</Name>
        {to !== null ? (
          <>
            <span className="font-normal text-ink-2">to</span>
            <Name>{momentName(timeline, to)}</Name>
          </>
        ) : null}
      </h2>
      {point?.verdict ? <VerdictWord verdict={point.verdict.status} /> : null}
      {point ? (
        <span className="min-w-0 truncate text-small text-ink-2" title={factsOf(point).join('\n')}>
          <Ago at={point.at} /> · {factsOf(point).join(' · ')}
        </span>
      ) : null}
      {now ? (
        <span className="text-small text-ink-2">{live ? 'what stands in the sandbox' : 'how it ended'}</span>
      ) : null}
      <span className="flex-1" />
      {point ? <Coverage coverage={point.coverage} /> : null}
      {now ? null : (
        <button
          type="button"
          aria-label="Back to now"
          aria-keyshortcuts="N"
          onClick={() => selection.toNow()}
          className="flex shrink-0 items-center gap-1.5 rounded-md px-2 py-0.5 text-accent hover:bg-base/60"
        >
          Back to now <Key>N</Key>
        </button>
      )}
    </header>
  )
}
