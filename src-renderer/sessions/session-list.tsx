/** The left side: every session, live ones first; search, disk use, and how to begin another. */
import { Bot, CircleHelp, Play, Plus, Search, Settings, Stethoscope, TriangleAlert } from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import type { SessionSummary } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { isLive } from '../../src-main/contract/timeline.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Ago } from '../elements/ago.tsx'
import { IconButton } from '../elements/button.tsx'
import { count, leaf, size } from '../elements/format.ts'
import { Mark } from '../elements/mark.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { Name } from '../elements/text.tsx'
import { useHost, useSessions } from '../host/context.ts'
import { onAction } from '../session/keys.ts'
import { openSheet } from '../sheets/sheets-store.ts'
import { useBegin } from '../start/new-session.tsx'
import { focusTimeline } from '../timeline/focus.ts'
import { inOrder, matching } from './sessions-store.ts'
import { StateDot, stateWord } from './state.tsx'
import { isTroubled } from './trouble.ts'

export function SessionList({ showKeys }: { showKeys(): void }) {
  const { sessions: store } = useHost()
  const sessions = useSessions((state) => state.sessions)
  const open = useSessions((state) => state.open)
  const [query, setQuery] = useState('')
  const begin = useBegin()
  const latest = useRef(begin)
  latest.current = begin
  useEffect(
    () =>
      onAction(
        'new',
        () => latest.current.start(),
        () => !latest.current.busy,
      ),
    [],
  )
  const found = useMemo(() => matching(inOrder(sessions), query), [sessions, query])
  const used = sessions.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
  return (
    <nav aria-label="Sessions pane" className="flex h-full min-h-0 flex-col bg-panel">
      <header className="flex h-12 shrink-0 items-center gap-2 pr-2 pl-4">
        <Mark size={18} />
        <span className="flex-1 font-semibold">Rewind</span>
        <IconButton label={begin.label.replace('…', '')} disabled={begin.busy} onClick={begin.start}>
          <Plus size={16} />
        </IconButton>
      </header>
      {sessions.length > 0 ? (
        <div className="px-3 pb-2">
          <label className="flex h-7 items-center gap-2 rounded-md border border-line bg-base px-2 focus-within:border-accent">
            <Search size={13} aria-hidden="true" className="shrink-0 text-ink-3" />
            <input
              id="session-search"
              type="search"
              aria-label="Search sessions"
              placeholder="Search"
              value={query}
              onChange={(event) => setQuery(event.target.value)}
              onKeyDown={(event) => (event.key === 'Escape' ? event.currentTarget.blur() : undefined)}
              className="w-full min-w-0 bg-transparent outline-none placeholder:text-ink-3"
            />
          </label>
        </div>
      ) : null}
      {begin.problem ? (
        <div className="px-3 pb-2">
          <ProblemLine message={begin.problem.message} nextStep={begin.problem.nextStep} />
        </div>
      ) : null}
      <List sessions={found} open={open} pick={store.open} query={query} />
      <footer className="flex h-10 shrink-0 items-center border-t border-line pr-2 pl-4 text-small text-ink-2">
        <span className="min-w-0 flex-1 truncate" title="On disk: what the layers of all sessions hold">
          {sessions.length > 0 ? size(used) : ''}
        </span>
        {sessions.length > 0 ? <DemoAgain /> : null}
        <IconButton label="Connect an agent…" onClick={() => openSheet('connect')}>
          <Bot size={15} />
        </IconButton>
        <IconButton label="Doctor" onClick={() => openSheet('doctor')}>
          <Stethoscope size={15} />
        </IconButton>
        <IconButton label="Preferences" aria-keyshortcuts="Control+," onClick={() => openSheet('preferences')}>
          <Settings size={15} />
        </IconButton>
        <IconButton label="Keys" onClick={showKeys}>
          <CircleHelp size={15} />
        </IconButton>
      </footer>
      {begin.dialog}
    </nav>
  )
}

function DemoAgain() {
  const { sessions, rewind } = useHost()
  const [busy, setBusy] = useState(false)
  const watch = () => {
    setBusy(true)
    sessions
      .demo()
      .catch((error) => {
        const { message, nextStep } = fromRpcError(error)
        rewind.say({ kind: 'problem', text: message, nextStep, undo: false })
      })
      .finally(() => setBusy(false))
  }
  return (
    <IconButton label="Watch the demo" disabled={busy} onClick={watch}>
      <Play size={14} />
    </IconButton>
  )
}

interface ListProps {
  sessions: SessionSummary[]
  open: string | null
  pick(id: string): void
  query: string
}

function List({ sessions, open, pick, query }: ListProps) {
  const loaded = useSessions((state) => state.load === 'ready')
  const active = sessions.findIndex(({ id }) => id === open)
  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowDown: active + 1,
      j: active + 1,
      ArrowUp: active - 1,
      k: active - 1,
      Home: 0,
      End: sessions.length - 1,
    }[event.key]
    const session = to === undefined ? undefined : sessions[to]
    if (!session) return
    event.preventDefault()
    pick(session.id)
    document.getElementById(`session-${session.id}`)?.scrollIntoView({ block: 'nearest' })
  }
  const groups = [
    { title: 'Live', sessions: sessions.filter(isLive) },
    { title: 'Earlier', sessions: sessions.filter((session) => !isLive(session)) },
  ].filter((group) => group.sessions.length > 0)
  if (sessions.length === 0)
    return (
      <p className="min-h-0 flex-1 px-4 py-3 text-small text-ink-3">
        {loaded ? (query ? 'No session matches' : 'No sessions yet') : ''}
      </p>
    )
  return (
    <div
      role="listbox"
      aria-label="Sessions"
      aria-activedescendant={active >= 0 ? `session-${open}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="min-h-0 flex-1 overflow-y-auto pb-2"
    >
      {groups.map((group) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options within a listbox
        <div key={group.title} role="group" aria-label={group.title}>
          <p aria-hidden="true" className="px-4 pt-2 pb-1 text-tiny font-medium text-ink-3">
            {group.title}
          </p>
          {group.sessions.map((session) => (
            <Row key={session.id} session={session} open={session.id === open} pick={pick} />
          ))}
        </div>
      ))}
    </div>
  )
}

function Row({ session, open, pick }: { session: SessionSummary; open: boolean; pick(id: string): void }) {
  const { trouble } = useHost()
  const isTrouble = useStore(trouble, ({ falls }) => isTroubled(falls[session.id]))
  const state = stateWord(session)
  const quiet = state === 'live' || !isLive(session)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the listbox
    <div
      id={`session-${session.id}`}
      role="option"
      aria-selected={open}
      aria-label={`${visibleName(session.name)}, ${state}, ${session.engine}, ${count(session.checkpoints, 'point')}${isTrouble ? ', took the window down' : ''}`}
      onClick={() => {
        pick(session.id)
        focusTimeline()
      }}
      className={`grid h-12 grid-cols-[8px_minmax(0,1fr)] items-center gap-x-3 px-4 ${open ? 'bg-accent-soft' : 'hover:bg-hover'}`}
    >
      <StateDot session={session} />
      <div className="min-w-0">
        <div className="flex items-baseline gap-2">
          <Name className={`flex-1 ${isLive(session) ? 'font-medium' : ''}`}>{session.name}</Name>
          {isTrouble ? (
            <TriangleAlert size={13} aria-hidden="true" className="shrink-0 self-center text-warn">
              <title>It took the window down twice</title>
            </TriangleAlert>
          ) : null}
          <span className={`shrink-0 text-small ${quiet ? 'text-ink-3' : 'text-warn'}`}>{state}</span>
        </div>
        <div className="flex items-baseline gap-2 text-small text-ink-2">
          <span className="min-w-0 flex-1 truncate">
            {session.endedAt ? <Ago at={session.endedAt} /> : count(session.checkpoints, 'point')}
            {` · ${visibleName(leaf(session.workspace))}`}
          </span>
          {session.bytes === null ? null : <span className="shrink-0 text-ink-3">{size(session.bytes)}</span>}
        </div>
      </div>
    </div>
  )
}
