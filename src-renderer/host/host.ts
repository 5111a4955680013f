/** All that the window knows, made once per link: the stores, and the event stream that feeds them. */
import type { Place } from '../../src-main/contract/index.ts'
import { createFolderRequestsStore, type FolderRequestsStore } from '../access/folder-requests-store.ts'
import { type CommitStore, createCommitStore } from '../commit/commit-store.ts'
import { createEscalationsStore, type EscalationsStore } from '../escalation/escalations-store.ts'
import { createLedgerViewStore, type LedgerViewStore } from '../ledger/view-store.ts'
import { createRewindStore, type RewindStore } from '../rewind/rewind-store.ts'
import { createSessionsStore, type SessionsStore } from '../sessions/sessions-store.ts'
import { browserPages, createTroubleStore, type TroubleStore } from '../sessions/trouble.ts'
import { createSelectionStore, type SelectionStore } from '../timeline/selection-store.ts'
import { createSessionStore, type SessionStore } from '../timeline/session-store.ts'
import { type ConnectionStore, createConnectionStore } from './connection-store.ts'
import { followEvents } from './event-stream.ts'
import type { Link, Rpc } from './link.ts'
import { followPlaces } from './places.ts'
import { remembered } from './remembered.ts'

export interface Host {
  rpc: Rpc
  pickFolder: Link['pickFolder']
  connection: ConnectionStore
  sessions: SessionsStore
  trouble: TroubleStore
  session: SessionStore
  selection: SelectionStore
  rewind: RewindStore
  commit: CommitStore
  folderRequests: FolderRequestsStore
  escalations: EscalationsStore
  ledgerView: LedgerViewStore
  /** Begin to listen to the host. */
  start(): void
}

export function createHost({ rpc, pickFolder, onState }: Link): Host {
  const connection = createConnectionStore(rpc)
  const trouble = createTroubleStore({ falls: remembered('falls'), inView: remembered('in-view') }, browserPages)
  const sessions = createSessionsStore(rpc, remembered('open-session'), trouble.isShut)
  const session = createSessionStore(rpc)
  const selection = createSelectionStore()
  const rewind = createRewindStore(rpc, session, selection)
  const commit = createCommitStore(rpc, session)
  const folderRequests = createFolderRequestsStore(rpc)
  const escalations = createEscalationsStore(rpc)
  const ledgerView = createLedgerViewStore()

  const showOpen = () => {
    const wanted = sessions.getState().open
    const open = wanted === null || trouble.isShut(wanted) ? null : wanted
    // Before anything of it is read.
    trouble.shows(open)
    if (session.getState().id === open) return
    selection.toNow()
    // What it would do is meant for the session that it was opened over.
    rewind.cancel()
    rewind.dismiss()
    commit.close()
    ledgerView.reset()
    void session.show(open)
  }

  const seePruned = () => {
    const { timeline } = session.getState()
    if (timeline) selection.amongst(timeline.points)
  }

  return {
    rpc,
    pickFolder,
    connection,
    sessions,
    trouble,
    session,
    selection,
    rewind,
    commit,
    folderRequests,
    escalations,
    ledgerView,
    start() {
      onState((state, refusal) => connection.lineState(state, refusal))
      sessions.subscribe(showOpen)
      trouble.subscribe(showOpen)
      // A page that goes in good order takes no blame along; one that is taken out of the drawer again may fall. There is
      // none where the stores are tried by themselves.
      globalThis.addEventListener?.('pagehide', () => trouble.shows(null))
      globalThis.addEventListener?.('pageshow', showOpen)
      void folderRequests.follow(new AbortController().signal)
      void escalations.follow(new AbortController().signal)
      const follow = () =>
        followEvents(
          rpc,
          {
            streaming: (on) => connection.streaming(on),
            failed: ({ message }) =>
              rewind.say({
                kind: 'problem',
                text: message,
                nextStep: 'Everything was loaded again; the window goes on from now.',
                undo: false,
              }),
            reload() {
              void connection.loadInfo()
              void sessions.load()
              void session.reload().then(seePruned)
            },
            apply(event) {
              sessions.apply(event)
              session.apply(event)
              if (event.type === 'pointRemoved') seePruned()
            },
          },
          new AbortController().signal,
        )
      const go = ({ session, at }: Place) => {
        sessions.open(session)
        selection.select(at)
      }
      const begin = () => {
        void follow()
        void followPlaces(rpc, remembered('place', 'page'), go, new AbortController().signal)
      }
      void trouble.look().then(begin, begin)
    },
  }
}
