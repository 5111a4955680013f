/** Whether agents may use a session that a person began: closed until it is opened here. */
import { Bot } from 'lucide-react'
import { useState } from 'react'
import type { SessionDetails } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { useHost } from '../host/context.ts'

export function ShareSwitch({ session: { id, shared } }: { session: Pick<SessionDetails, 'id' | 'shared'> }) {
  const { rpc, rewind } = useHost()
  const [busy, setBusy] = useState(false)
  const change = async () => {
    setBusy(true)
    try {
      // What it is now comes back as an event.
      await rpc.sessions.share({ session: id, on: !shared })
    } catch (error) {
      const { message, nextStep } = fromRpcError(error)
      rewind.say({ kind: 'problem', text: message, nextStep, undo: false })
    } finally {
      setBusy(false)
    }
  }
  return (
    <button
      type="button"
      role="switch"
      aria-checked={shared}
      aria-label="Share with agents"
      title={
        shared
          ? 'Agents may use this session: run commands in it, change its files, rewind it. Click to close it to them.'
          : 'Agents cannot see this session. Click to let them use it.'
      }
      disabled={busy}
      onClick={() => void change()}
      className="inline-flex h-7 shrink-0 items-center gap-1.5 rounded-md px-1.5 text-small text-ink-2 hover:bg-hover hover:text-ink"
    >
      <Bot size={14} aria-hidden="true" className={shared ? 'text-accent' : undefined} />
      {/* The switch says it too, where the session's name needs the room. */}
      <span className="max-[1400px]:hidden">{shared ? 'Shared' : 'Not shared'}</span>
      <span
        aria-hidden="true"
        className={`flex h-3.5 w-6 items-center rounded-full border px-px ${shared ? 'justify-end border-accent bg-accent' : 'border-line-strong bg-panel'}`}
      >
        <span className={`size-2.5 rounded-full ${shared ? 'bg-accent-ink' : 'bg-ink-3'}`} />
      </span>
    </button>
  )
}
