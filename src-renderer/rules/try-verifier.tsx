/** Runs the verifier as it is typed, once and without consequences, and shows what it said. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { RewindError, VerifierSpec, VerifierTrial } from '../../src-main/contract/index.ts'
import { visible } from '../../src-main/contract/text.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { useHost } from '../host/context.ts'

interface Props {
  session: string
  /** What is typed; null where that makes no sense, which is said at its field then. */
  read(): VerifierSpec | null
}

export function TryVerifier({ session, read }: Props) {
  const { rpc } = useHost()
  const running = useRef<AbortController | null>(null)
  const [busy, setBusy] = useState(false)
  const [trial, setTrial] = useState<VerifierTrial | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  useEffect(() => () => running.current?.abort(), [])

  const begin = async () => {
    const verifier = read()
    if (verifier === null) return
    const own = new AbortController()
    running.current = own
    setBusy(true)
    setTrial(null)
    setProblem(null)
    try {
      setTrial(await rpc.rules.tryVerifier({ session, verifier }, { signal: own.signal }))
    } catch (error) {
      if (!own.signal.aborted) setProblem(fromRpcError(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="ml-6 flex flex-col gap-2">
      <div className="flex items-start gap-2">
        <Button className="ml-30" busy={busy} onClick={() => (busy ? running.current?.abort() : void begin())}>
          {busy ? 'Stop' : 'Try'}
        </Button>
        <p role="status" className="min-w-0 pt-1 text-small break-words whitespace-pre-wrap">
          {trial ? <Said trial={trial} /> : null}
        </p>
      </div>
      {trial ? <Output title="Output" text={trial.stdout} /> : null}
      {trial ? <Output title="Errors" text={trial.stderr} /> : null}
      {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
    </div>
  )
}

const TONES = { pass: 'text-ok', fail: 'text-bad', unknown: 'text-warn' } as const

const Said = ({ trial: { status, text } }: { trial: VerifierTrial }): ReactNode => (
  <>
    <span className={`font-semibold ${TONES[status]}`}>{status}</span> {visible(text)}
  </>
)

/** Characters that are shown of a stream, the last ones. */
const SHOWN = 20_000

function Output({ title, text }: { title: string; text: string }) {
  if (text.trim() === '') return null
  return (
    <section
      aria-label={title}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
      tabIndex={0}
      className="max-h-32 overflow-auto rounded-md border border-line bg-base px-2.5 py-1.5 font-mono text-small whitespace-pre-wrap break-words select-text"
    >
      {visible(text.slice(-SHOWN).trimEnd())}
    </section>
  )
}
