/** The window's title: the session that is open, and first how many decisions wait, for who sees no more of it. */
import { useEffect } from 'react'
import { useStore } from 'zustand'
import { visibleName } from '../../src-main/contract/text.ts'
import { useHost, useSession, useSessions } from '../host/context.ts'

export function useTitle(): void {
  const { escalations } = useHost()
  const count = useStore(escalations, ({ waiting }) => waiting.length)
  const open = useSessions((state) => state.open)
  const details = useSession((state) => state.details)
  const name = open && details ? `${visibleName(details.name)} · ` : ''
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${name}Rewind`
  }, [name, count])
}
