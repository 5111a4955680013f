/**
 * The escalation sheet: a verdict that nobody could give, evidence first, the three answers beneath. The evidence has the
 * focus, so that a stray Enter decides nothing; C, R and S go to an answer, and Enter gives it.
 */
import { type KeyboardEvent, type ReactNode, useRef } from 'react'
import { useStore } from 'zustand'
import type { Escalation, Resolution } from '../../src-main/contract/index.ts'
import { bytes, visible, visibleName } from '../../src-main/contract/text.ts'
import { Letter } from '../changes/letters.tsx'
import { Ago } from '../elements/ago.tsx'
import { Button } from '../elements/button.tsx'
import { Counts } from '../elements/counts.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { count } from '../elements/format.ts'
import { ProblemLine } from '../elements/problem.tsx'
import { Name } from '../elements/text.tsx'
import { useHost } from '../host/context.ts'
import { inFront, keyMeans } from './escalations-store.ts'

export function EscalationSheet() {
  const { escalations } = useHost()
  const front = useStore(escalations, inFront)
  const behind = useStore(escalations, ({ waiting }) => waiting.length - 1)
  return front ? <Sheet key={front.id} escalation={front} behind={behind} /> : null
}

const ANSWERS: readonly { resolution: Resolution; word: string; key: string }[] = [
  { resolution: 'continue', word: 'Continue', key: 'C' },
  { resolution: 'rollback', word: 'Roll back', key: 'R' },
  { resolution: 'stop', word: 'Stop', key: 'S' },
]

function Sheet({ escalation, behind }: { escalation: Escalation; behind: number }) {
  const { id, sessionName, raisedAt, evidence } = escalation
  const { escalations } = useHost()
  const { answering, problem } = useStore(escalations)
  const opened = useRef(performance.now())
  const answers = useRef<HTMLFieldSetElement>(null)
  const onKeyDown = (event: KeyboardEvent) => {
    const meant = keyMeans(event.nativeEvent, performance.now() - opened.current)
    if (meant === null) return
    event.preventDefault()
    event.stopPropagation()
    if (meant !== 'nothing') answers.current?.querySelector<HTMLElement>(`[data-answer=${meant}]`)?.focus()
  }
  return (
    <div onKeyDownCapture={onKeyDown}>
      <Dialog
        title="The verifier could not decide"
        onClose={() => escalations.layAside(id)}
        width="w-180"
        note={
          <span className="flex items-baseline gap-1.5 text-small">
            <Name>{sessionName}</Name> · <Ago at={raisedAt} /> · {count(evidence.attempts, 'attempt')}
          </span>
        }
      >
        <section
          aria-label="Evidence"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and is read before anything is decided
          tabIndex={0}
          data-focus-first
          className="min-h-44 flex-1 space-y-4 overflow-y-auto border-y border-line px-5 py-3 outline-none select-text focus-visible:inset-ring-1 focus-visible:inset-ring-accent"
        >
          <EvidenceView evidence={evidence} />
        </section>
        <footer className="flex flex-col gap-3 px-5 py-3">
          {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
          <div className="flex items-center justify-end gap-2">
            <p className="mr-auto text-small text-ink-2">
              {behind > 0 ? `${count(behind, 'more verdict')} waiting. ` : ''}
              {deadline(escalation)}
            </p>
            <Button look="quiet" disabled={answering !== null} onClick={() => escalations.layAside(id)}>
              Look first
            </Button>
            <fieldset ref={answers} aria-label="Decision" className="flex items-center gap-2">
              {ANSWERS.map(({ resolution, word, key }) => (
                <Button
                  key={resolution}
                  data-answer={resolution}
                  shortcut={key}
                  title={meaning(resolution, evidence.checkpoint)}
                  aria-description={meaning(resolution, evidence.checkpoint)}
                  busy={answering === resolution}
                  disabled={answering !== null || (resolution === 'rollback' && evidence.checkpoint === null)}
                  onClick={() => void escalations.answer(id, resolution)}
                >
                  {word}
                </Button>
              ))}
            </fieldset>
          </div>
        </footer>
      </Dialog>
    </div>
  )
}

function meaning(resolution: Resolution, checkpoint: string | null): string {
  if (resolution === 'continue') return 'The session goes on; nothing counts as verified'
  if (resolution === 'stop') return 'The session halts until a person has looked at it'
  return checkpoint === null
    ? 'No rule says what to go back to'
    : `Files and messages go back to ${visibleName(checkpoint)}`
}

function deadline({ timeoutMs, raisedAt, onTimeout }: Escalation): string {
  if (timeoutMs === null) return ''
  const at = new Date(raisedAt.getTime() + timeoutMs).toLocaleTimeString()
  return `Without an answer by ${at}: ${ANSWERS.find((one) => one.resolution === onTimeout)?.word}.`
}

/** Characters of each stream that are shown, the last ones. */
const SHOWN = 20_000
const LISTED = 200

export function EvidenceView({ evidence }: { evidence: Escalation['evidence'] }) {
  const { verifierCommand, text, lastResult, changes, counts, checkpoint } = evidence
  const changed = counts.added + counts.modified + counts.deleted
  return (
    <>
      <Part title="What it said">
        <p className="break-words whitespace-pre-wrap">{visible(text)}</p>
        <p className="flex font-mono text-small text-ink-2">
          <Name mono>{[verifierCommand].flat().join(' ')}</Name>
        </p>
      </Part>
      <Stream title="Output" text={lastResult.rawOutput} />
      <Stream title="Errors" text={lastResult.rawStderr} />
      <Part title={`What it judged, against ${visibleName(checkpoint ?? 'the point before')}`}>
        {changes.length === 0 ? <p className="text-ink-3">No file differs</p> : <Counts counts={counts} />}
        <ul aria-label="Files that were judged">
          {changes.slice(0, LISTED).map((change) => (
            <li key={change.path} className="flex h-6 items-center gap-2">
              <Letter status={change.status} />
              <Name mono>{change.path}</Name>
            </li>
          ))}
        </ul>
        {changed > LISTED ? (
          <p className="text-small text-ink-2">and {(changed - LISTED).toLocaleString()} more</p>
        ) : null}
      </Part>
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="space-y-1">
      <h3 className="text-small font-medium text-ink-2">{title}</h3>
      {children}
    </div>
  )
}

function Stream({ title, text }: { title: string; text: string }) {
  if (text.trim() === '') return null
  const left = text.length - SHOWN
  return (
    <Part title={left > 0 ? `${title}, the end of ${bytes(text.length)}` : title}>
      <pre className="max-h-48 overflow-auto rounded-md bg-panel px-3 py-2 font-mono text-small whitespace-pre-wrap">
        {visible(text.slice(-SHOWN))}
      </pre>
    </Part>
  )
}
