/** How components reach the stores: one context, one hook per store, each with a selector. */
import { createContext, use } from 'react'
import { useStore } from 'zustand'
import type { Sessions } from '../sessions/sessions-store.ts'
import type { Selection } from '../timeline/selection-store.ts'
import type { OpenSession } from '../timeline/session-store.ts'
import type { Connection } from './connection-store.ts'
import type { Host } from './host.ts'

export const HostContext = createContext<Host | null>(null)

export function useHost(): Host {
  const host = use(HostContext)
  if (!host) throw new Error('This part of the window was drawn outside of a HostContext.')
  return host
}

export const useConnection = <T>(select: (state: Connection) => T): T => useStore(useHost().connection, select)
export const useSessions = <T>(select: (state: Sessions) => T): T => useStore(useHost().sessions, select)
export const useSession = <T>(select: (state: OpenSession) => T): T => useStore(useHost().session, select)
export const useSelection = <T>(select: (state: Selection) => T): T => useStore(useHost().selection, select)
