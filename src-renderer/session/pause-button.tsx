/** Holds all that runs in the sandbox still, and has it go on. */
import { Pause, Play } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { SessionDetails } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { useHost } from '../host/context.ts'
import { onAction } from './keys.ts'

export function PauseButton({ session: { id, status } }: { session: Pick<SessionDetails, 'id' | 'status'> }) {
  const { rpc, rewind } = useHost()
  const [busy, setBusy] = useState(false)
  const paused = status === 'paused'
  const change = async () => {
    setBusy(true)
    try {
      // How it stands comes back as an event.
      await (paused ? rpc.sessions.unpause({ session: id }) : rpc.sessions.pause({ session: id }))
    } catch (error) {
      const { message, nextStep } = fromRpcError(error)
      rewind.say({ kind: 'problem', text: message, nextStep, undo: false })
    } finally {
      setBusy(false)
    }
  }
  const can = !busy && (status === 'running' || status === 'halted' || paused)
  useEffect(() =>
    onAction(
      'pause',
      () => void change(),
      () => can,
    ),
  )
  if (status !== 'running' && status !== 'halted' && !paused) return null
  return (
    <Button
      look={paused ? 'plain' : 'quiet'}
      icon={paused ? <Play size={14} /> : <Pause size={14} />}
      aria-label={paused ? 'Unpause' : 'Pause'}
      title={
        paused
          ? 'Nothing runs in this sandbox. Click to have it go on.'
          : 'Hold every process in this sandbox still, and take no new work.'
      }
      busy={busy}
      disabled={busy}
      onClick={() => void change()}
    >
      {paused ? 'Unpause' : null}
    </Button>
  )
}
