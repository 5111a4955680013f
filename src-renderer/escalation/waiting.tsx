/**
 * What keeps the open session from going on, below its header: a verdict that waits for a decision and was laid aside, or
 * a halt, with why, what can be looked at, a mended verifier, and resuming.
 */
import { type FormEvent, useState } from 'react'
import { useStore } from 'zustand'
import type { Escalation, RewindError, SessionDetails } from '../../src-main/contract/index.ts'
import { visible } from '../../src-main/contract/text.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'

export function Waiting({ details }: { details: SessionDetails }) {
  const { escalations } = useHost()
  const { waiting, aside } = useStore(escalations)
  const laid = waiting.find(({ id, session }) => session === details.id && aside.includes(id))
  if (laid) return <Undecided escalation={laid} />
  return details.halted ? <Halted key={details.id} details={details} /> : null
}

const bar = 'flex shrink-0 flex-col gap-2 border-b border-line bg-panel px-4 py-2'

function Undecided({ escalation: { id, evidence } }: { escalation: Escalation }) {
  const { escalations } = useHost()
  return (
    <section aria-label="Waiting for you" className={bar}>
      <div className="flex items-center gap-3">
        <p className="min-w-0 flex-1 truncate">
          <span className="font-medium text-warn">The verifier could not decide.</span>{' '}
          {visible(evidence.text).split('\n')[0]}
        </p>
        <Button onClick={() => escalations.takeUp(id)}>Decide</Button>
      </div>
    </section>
  )
}

function Halted({ details }: { details: SessionDetails }) {
  const { rpc, selection } = useHost()
  const rows = useSession((state) => state.ledger.length)
  const [verifier, setVerifier] = useState('')
  const [busy, setBusy] = useState<'mended' | 'waived' | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const asked = useAsked(`${details.id} halted`, rows, (signal) =>
    rpc.escalations.list({ session: details.id }, { signal }),
  )
  const halt = asked.state === 'ready' ? asked.value.findLast(({ resolution }) => resolution === 'stop') : undefined
  const command = verifier.trim()
  const resume = async (how: 'mended' | 'waived') => {
    setBusy(how)
    setProblem(null)
    try {
      await rpc.sessions.resume({ session: details.id, verifier: how === 'mended' ? { command } : null })
    } catch (error) {
      setProblem(fromRpcError(error))
    } finally {
      setBusy(null)
    }
  }
  const look = (tab: 'changes' | 'output' | 'ledger') => {
    selection.toNow()
    selection.tab(tab)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (command !== '') void resume('mended')
  }
  return (
    <section aria-label="Halted" className={bar}>
      <div className="flex items-center gap-3">
        <p className="min-w-0 flex-1">
          <span className="font-medium text-bad">Halted.</span>{' '}
          {halt ? visible(halt.evidence.text).split('\n')[0] : 'The verifier could not decide.'}
          {halt ? <span className="text-ink-2"> {decider(halt)}</span> : null}
        </p>
        <Button look="quiet" onClick={() => look('changes')}>
          Changes
        </Button>
        <Button look="quiet" onClick={() => look('output')}>
          Output
        </Button>
        <Button look="quiet" onClick={() => look('ledger')}>
          Ledger
        </Button>
      </div>
      <form className="flex items-center gap-2" onSubmit={onSubmit}>
        <input
          aria-label="Mended verifier"
          placeholder={halt ? [halt.evidence.verifierCommand].flat().join(' ') : 'A command that says pass'}
          value={verifier}
          onChange={(event) => setVerifier(event.target.value)}
          spellCheck={false}
          className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-raised px-2 font-mono text-small"
        />
        <Button
          type="submit"
          busy={busy === 'mended'}
          disabled={busy !== null || command === ''}
          title="Runs it; the session goes on where it says pass"
        >
          Verify and resume
        </Button>
        <Button
          busy={busy === 'waived'}
          disabled={busy !== null}
          title="The session goes on; nothing counts as verified"
          onClick={() => void resume('waived')}
        >
          Resume unverified
        </Button>
      </form>
      {problem ? <ProblemLine message={visible(problem.message)} nextStep={problem.nextStep} /> : null}
    </section>
  )
}

const decider = ({ answeredBy }: Escalation): string =>
  answeredBy === 'you'
    ? 'You stopped it.'
    : answeredBy === 'timeout'
      ? 'Nobody answered in time.'
      : answeredBy === 'handler'
        ? 'Its program stopped it.'
        : 'Nobody was there to be asked.'
