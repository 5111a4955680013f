/** The whole window: sessions at the left, the open one beside them, status below, sheets and toast above. */
import { useEffect, useState } from 'react'
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels'
import { useStore } from 'zustand'
import { isLive } from '../src-main/contract/timeline.ts'
import { fromRpcError } from '../src-main/contract/wire.ts'
import { FolderRequests } from './access/folder-requests.tsx'
import { CommitSheet } from './commit/sheet.tsx'
import { Boundary } from './elements/boundary.tsx'
import { Loading, Problem } from './elements/problem.tsx'
import { EscalationSheet } from './escalation/sheet.tsx'
import { Banner, SignedOut } from './host/banner.tsx'
import { useConnection, useHost, useSessions } from './host/context.ts'
import { Palette } from './palette/palette.tsx'
import { RewindSheet } from './rewind/sheet.tsx'
import { Toast } from './rewind/toast.tsx'
import { rewindTarget } from './session/header.tsx'
import { KeySheet } from './session/key-sheet.tsx'
import { type Action, onAction, useKeys } from './session/keys.ts'
import { SessionView } from './session/session-view.tsx'
import { StatusBar } from './session/status-bar.tsx'
import { useTitle } from './session/title.ts'
import { SessionList } from './sessions/session-list.tsx'
import { Troubled } from './sessions/troubled.tsx'
import { Sheets } from './sheets/sheets.tsx'
import { Start } from './start/start.tsx'
import { openShell } from './terminal/shell.ts'
import { pointOf } from './timeline/moments.ts'
import { atNow, type PaneTab } from './timeline/selection-store.ts'

export function App() {
  const [keys, setKeys] = useState(false)
  const [palette, setPalette] = useState(false)
  const layout = useDefaultLayout({ id: 'rewind:window-panes' })
  const refusal = useConnection((connection) => connection.refusal)
  const { trouble } = useHost()
  const open = useSessions((state) => state.open)
  const isShut = useStore(trouble, () => open !== null && trouble.isShut(open))
  useTitle()
  useKeys()
  useActions(
    () => setKeys(true),
    () => setPalette(true),
  )
  if (refusal) return <SignedOut refusal={refusal} />
  return (
    <div className="flex h-full flex-col select-none">
      <Group orientation="horizontal" className="min-h-0 flex-1" {...layout}>
        <Panel id="sessions" defaultSize={232} minSize={176} maxSize={400} groupResizeBehavior="preserve-pixel-size">
          <Boundary name="Sessions">
            <SessionList showKeys={() => setKeys(true)} />
          </Boundary>
        </Panel>
        <Separator className="w-px bg-line outline-none data-[separator=active]:bg-accent data-[separator=hover]:bg-accent" />
        <Panel id="session" minSize={480}>
          <Boundary name="Session" of={isShut ? null : open} onFault={() => (open ? trouble.fell(open) : undefined)}>
            <Main />
          </Boundary>
        </Panel>
      </Group>
      <StatusBar />
      <RewindSheet />
      <EscalationSheet />
      <CommitSheet />
      <Sheets />
      <div className="pointer-events-none fixed inset-x-0 bottom-10 z-20 flex flex-col items-center gap-2 px-4">
        <FolderRequests />
        <Banner />
        <Toast />
      </div>
      {palette ? <Palette close={() => setPalette(false)} /> : null}
      {keys ? <KeySheet close={() => setKeys(false)} /> : null}
    </div>
  )
}

function Main() {
  const { sessions, trouble } = useHost()
  const load = useSessions((state) => state.load)
  const problem = useSessions((state) => state.problem)
  const open = useSessions((state) => state.open)
  const isShut = useStore(trouble, () => open !== null && trouble.isShut(open))
  if (open && isShut) return <Troubled key={open} id={open} />
  if (open) return <SessionView />
  if (load === 'failed' && problem)
    return (
      <main className="h-full">
        <h1 className="sr-only">Rewind</h1>
        <Problem message={problem.message} nextStep={problem.nextStep} again={() => void sessions.load()} />
      </main>
    )
  return load === 'loading' ? <Loading what="Connecting to the host" /> : <Start />
}

interface Doing {
  act(): void
  can?(): boolean
}

function useActions(showKeys: () => void, showPalette: () => void): void {
  const { commit, rewind, rpc, selection, session } = useHost()
  useEffect(() => {
    const live = () => {
      const { details } = session.getState()
      return details !== null && isLive(details) ? details : null
    }
    const target = () => {
      const { timeline } = session.getState()
      return (timeline && rewindTarget(timeline, selection.getState())) ?? null
    }
    const selected = () => pointOf(session.getState().timeline, selection.getState().moment)
    const isOpen = () => session.getState().timeline !== null
    const say = (error: unknown) => {
      const { message, nextStep } = fromRpcError(error)
      rewind.say({ kind: 'problem', text: message, nextStep, undo: false })
    }
    const tab = (name: PaneTab): Doing => ({ act: () => selection.tab(name), can: isOpen })
    const actions: Partial<Record<Action, Doing>> = {
      palette: { act: showPalette },
      rewind: {
        act() {
          const to = target()
          if (to) rewind.ask(to)
        },
        can: () => live() !== null && target() !== null,
      },
      commit: { act: () => commit.ask(), can: () => live() !== null },
      undo: {
        act: () => void rewind.undo(),
        can: () => live() !== null && session.getState().timeline?.undo !== null,
      },
      pin: {
        act() {
          const point = selected()
          if (point) rpc.timeline.pin({ session: point.session, point: point.id, on: !point.pinned }).catch(say)
        },
        can: () => selected()?.kind === 'checkpoint' && session.getState().details?.status !== 'destroyed',
      },
      now: { act: () => selection.toNow(), can: () => isOpen() && !atNow(selection.getState()) },
      changes: tab('changes'),
      messages: tab('messages'),
      output: tab('output'),
      ledger: tab('ledger'),
      processes: tab('processes'),
      shell: {
        act() {
          const details = live()
          if (details) openShell(rpc, details.id).then((id) => selection.opened(id), say)
        },
        can: () => live() !== null,
      },
      search: { act: () => document.getElementById('session-search')?.focus() },
      keys: { act: showKeys },
    }
    const stops = Object.entries(actions).map(([action, { act, can }]) => onAction(action as Action, act, can))
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
}
