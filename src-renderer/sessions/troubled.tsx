/** In place of a session that took the window down: nothing of it is read or drawn until a person wants it. */
import { TriangleAlert } from 'lucide-react'
import { visibleName } from '../../src-main/contract/text.ts'
import { Button } from '../elements/button.tsx'
import { useHost, useSessions } from '../host/context.ts'
import { focusTimeline } from '../timeline/focus.ts'

export function Troubled({ id }: { id: string }) {
  const { trouble } = useHost()
  const session = useSessions(({ sessions }) => sessions.find((one) => one.id === id))
  const open = () => {
    trouble.admit(id)
    focusTimeline()
  }
  return (
    <main className="flex h-full flex-col items-center justify-center gap-3 p-6 text-center">
      <TriangleAlert size={20} className="text-warn" aria-hidden="true" />
      <div className="max-w-md space-y-1">
        <h1 className="font-medium text-balance break-words">
          “{visibleName(session?.name ?? id)}” took the window down twice
        </h1>
        <p className="text-ink-2 text-balance">
          So it is not opened by itself. The session is as it was, and a terminal shows all of it:{' '}
          <code className="font-mono text-code select-text">rewind status</code>,{' '}
          <code className="font-mono text-code select-text">rewind report</code>.
        </p>
      </div>
      <Button onClick={open}>Open it all the same</Button>
    </main>
  )
}
