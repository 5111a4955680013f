/** The line to the host, said calmly: away and coming back, or this browser not let in. */
import { KeyRound, Unplug } from 'lucide-react'
import { useEffect, useState } from 'react'
import { CopyLine } from '../elements/copy.tsx'
import { Words } from '../elements/words.tsx'
import { useConnection } from './context.ts'
import type { Refusal } from './link.ts'

/** A host that hands over is back within a second or two; one that is not has ended. */
const GONE_AFTER_MS = 5_000

/** Floats with the notices, so that a short break moves nothing and covers no control. */
export function Banner() {
  const lost = useConnection((connection) => connection.state === 'lost')
  return <div role="status">{lost ? <Away /> : null}</div>
}

function Away() {
  const [gone, setGone] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setGone(true), GONE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className="pointer-events-auto flex min-h-9 animate-appear items-center gap-2 rounded-lg border border-line bg-raised py-1 pr-2 pl-4 opacity-0 shadow-float motion-reduce:opacity-100">
      <Unplug size={14} aria-hidden="true" className="shrink-0 text-warn" />
      <p className="pr-2">
        {gone
          ? 'The host has ended; sandboxes are as they were. This starts it again:'
          : 'The host is away. Sandboxes keep running; this window reconnects by itself.'}
      </p>
      {gone ? <CopyLine text="rewind open" /> : null}
    </div>
  )
}

export function SignedOut({ refusal }: { refusal: Refusal }) {
  return (
    <main className="flex h-full flex-col items-center justify-center gap-4 p-8 text-center">
      <KeyRound size={20} aria-hidden="true" className="text-ink-2" />
      <div className="space-y-1">
        <h1 className="text-title font-semibold">
          <Words>{refusal.message}</Words>
        </h1>
        <p className="text-ink-2">
          <Words>{refusal.nextStep}</Words>
        </p>
      </div>
      <div className="w-60 text-left">
        <CopyLine text="rewind open" />
      </div>
    </main>
  )
}
