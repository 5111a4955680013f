/** The whole window: sessions at the left, the open one beside them, status below, sheets and toast above. */
import { useEffect, useState } from 'react'
import { Group, Panel, Separator, useDefaultLayout } from 'react-resizable-panels'
import { isLive } from '../src-main/contract/timeline.ts'
import { fromRpcError } from '../src-main/contract/wire.ts'
import { FolderRequests } from './access/folder-requests.tsx'
import { CommitSheet } from './commit/sheet.tsx'
import { Boundary } from './elements/boundary.tsx'
import { Loading, Problem } from './elements/problem.tsx'
import { EscalationSheet } from './escalation/sheet.tsx'
import { Banner, SignedOut } from './host/banner.tsx'
import { useConnection, useHost, useSessions } from './host/context.ts'
import { RewindSheet } from './rewind/sheet.tsx'
import { Toast } from './rewind/toast.tsx'
import { rewindTarget } from './session/header.tsx'
import { KeySheet } from './session/key-sheet.tsx'
import { type Action, onAction, useKeys } from './session/keys.ts'
import { SessionView } from './session/session-view.tsx'
import { StatusBar } from './session/status-bar.tsx'
import { SessionList } from './sessions/session-list.tsx'
import { Sheets } from './sheets/sheets.tsx'
import { Start } from './start/start.tsx'
import { openShell } from './terminal/shell.ts'

export function App() {
  const [keys, setKeys] = useState(false)
  const layout = useDefaultLayout({ id: 'rewind:window-panes' })
  const refusal = useConnection((connection) => connection.refusal)
  useKeys()
  useActions(() => setKeys(true))
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
          <Boundary name="Session">
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
      {keys ? <KeySheet close={() => setKeys(false)} /> : null}
    </div>
  )
}

function Main() {
  const { sessions } = useHost()
  const load = useSessions((state) => state.load)
  const problem = useSessions((state) => state.problem)
  const open = useSessions((state) => state.open)
  if (open) return <SessionView />
  if (load === 'failed' && problem)
    return <Problem message={problem.message} nextStep={problem.nextStep} again={() => void sessions.load()} />
  return load === 'loading' ? <Loading what="Connecting to the host" /> : <Start />
}

function useActions(showKeys: () => void): void {
  const { commit, rewind, rpc, selection, session } = useHost()
  useEffect(() => {
    const actions: Partial<Record<Action, () => void>> = {
      rewind: () => {
        const { details, timeline } = session.getState()
        const target = timeline && rewindTarget(timeline, selection.getState())
        if (details && isLive(details) && target) rewind.ask(target)
      },
      commit: () => {
        const { details } = session.getState()
        if (details && isLive(details)) commit.ask()
      },
      undo: () => void rewind.undo(),
      now: () => selection.toNow(),
      changes: () => selection.tab('changes'),
      messages: () => selection.tab('messages'),
      output: () => selection.tab('output'),
      ledger: () => selection.tab('ledger'),
      processes: () => selection.tab('processes'),
      shell: () => {
        const { details } = session.getState()
        if (!details || !isLive(details)) return
        openShell(rpc, details.id).then(
          (id) => selection.opened(id),
          (error) => {
            const { message, nextStep } = fromRpcError(error)
            rewind.say({ kind: 'problem', text: message, nextStep, undo: false })
          },
        )
      },
      search: () => document.getElementById('session-search')?.focus(),
      keys: showKeys,
    }
    const stops = Object.entries(actions).map(([action, listener]) => onAction(action as Action, listener))
    return () => {
      for (const stop of stops) stop()
    }
  }, [])
}
