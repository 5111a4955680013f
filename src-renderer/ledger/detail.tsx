/** All that one row of the ledger holds: what was said, the verdict, the evidence it was decided on, its place in the chain. */
import { ArrowUpRight, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Escalation, LedgerEntry } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Button, IconButton } from '../elements/button.tsx'
import { clip } from '../elements/clip.ts'
import { absolute, count, shown } from '../elements/format.ts'
import { Block, Name } from '../elements/text.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import { AnsiText } from '../output/ansi-text.tsx'
import { evidenceFor } from './evidence.ts'
import { outcomeOf, verdictJson, words } from './filter.ts'

/** Of an output; the export holds all of it. */
const OUTPUT_SHOWN = 100_000

interface DetailProps {
  entry: LedgerEntry
  /** The hash that its own covers; null where the row before it is missing. */
  previous: string | null
  /** Selects the state that it is about; null where that is no longer held. */
  show: (() => void) | null
  close(): void
}

export function Detail({ entry, previous, show, close }: DetailProps) {
  const verdict = entry.rawOutput ? verdictJson(entry.rawOutput) : null
  return (
    <section aria-label="Ledger row" className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-2 border-b border-line pr-2 pl-4">
        <h3 className="min-w-0 truncate font-semibold">
          Row {entry.id} · {words(entry.eventType)}
        </h3>
        <span className="min-w-0 flex-1 truncate text-small text-ink-2">{absolute(entry.timestamp)}</span>
        {show ? (
          <Button look="quiet" icon={<ArrowUpRight size={14} />} shortcut="G" onClick={show}>
            Go to the state
          </Button>
        ) : null}
        <IconButton label="Close the row" onClick={close}>
          <X size={14} />
        </IconButton>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by key */}
      <div tabIndex={0} className="flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-4 py-3 text-small select-text">
        <dl className="grid grid-cols-[88px_minmax(0,1fr)] gap-x-3 gap-y-1">
          <Fact name="Status">{outcomeOf(entry)}</Fact>
          <Fact name="Target">{entry.checkpoint}</Fact>
          <Fact name="State">{entry.point}</Fact>
          <Fact name="Decided by">{entry.decidedBy}</Fact>
        </dl>
        {entry.notes ? <Block>{entry.notes}</Block> : null}
        {verdict ? (
          <Part title="Verdict">
            <Code>{clip(verdict, OUTPUT_SHOWN).text}</Code>
          </Part>
        ) : null}
        {entry.rawOutput ? (
          <Part title="Output">
            <Code>{clip(entry.rawOutput, OUTPUT_SHOWN).text}</Code>
          </Part>
        ) : null}
        {entry.eventType === 'escalation' ? <Evidence entry={entry} /> : null}
        <Part title="Chain">
          <dl className="grid grid-cols-[88px_minmax(0,1fr)] gap-x-3 gap-y-1 font-mono text-tiny">
            <Fact name="Hash">{entry.hash}</Fact>
            <Fact name="Before it">{previous ?? 'the row before it is missing'}</Fact>
          </dl>
        </Part>
      </div>
    </section>
  )
}

function Evidence({ entry }: { entry: LedgerEntry }) {
  const { rpc } = useHost()
  const asked = useAsked(`escalations ${entry.session}`, 0, (signal) =>
    rpc.escalations.list({ session: entry.session }, { signal }),
  )
  if (asked.state !== 'ready') return null
  const found = evidenceFor(entry, asked.value)
  return found ? <Judged escalation={found} /> : null
}

function Judged({ escalation: { evidence, via } }: { escalation: Escalation }) {
  const { changes, counts, lastResult } = evidence
  const changed = counts.added + counts.modified + counts.deleted
  return (
    <Part title="Evidence">
      <dl className="grid grid-cols-[88px_minmax(0,1fr)] gap-x-3 gap-y-1">
        <Fact name="Verifier">{shown(evidence.verifierCommand)}</Fact>
        <Fact name="Attempts">{String(evidence.attempts)}</Fact>
        <Fact name="Answered in">{via}</Fact>
        <Fact name="Changes">{`${count(changed, 'entry', 'entries')} since ${visibleName(evidence.since)}`}</Fact>
      </dl>
      {lastResult.rawStderr ? <Code>{clip(lastResult.rawStderr, OUTPUT_SHOWN).text}</Code> : null}
      {changes.length > 0 ? (
        <ul aria-label="Changes that were judged">
          {changes.map((change) => (
            <li key={change.rawPath ?? change.path} className="flex gap-2">
              <span className="w-16 shrink-0 text-ink-2">{change.status}</span>
              <Name mono>{change.path}</Name>
            </li>
          ))}
        </ul>
      ) : null}
    </Part>
  )
}

function Fact({ name, children }: { name: string; children: string | null }) {
  if (!children) return null
  return (
    <>
      <dt className="font-sans text-small text-ink-2">{name}</dt>
      <dd className="min-w-0 break-words [overflow-wrap:anywhere]">{visibleName(children)}</dd>
    </>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-1">
      <h4 className="text-tiny font-medium text-ink-2">{title}</h4>
      {children}
    </section>
  )
}

const Code = ({ children }: { children: string }) => (
  <div className="rounded-md border border-line bg-sunken px-2 py-1 font-mono text-code">
    <AnsiText>{children}</AnsiText>
  </div>
)
