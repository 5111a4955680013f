/** One message: who speaks in the margin, what was said beside it. */
import { CornerDownRight, Crosshair, RotateCcw, Wrench } from 'lucide-react'
import { memo, useMemo, useState } from 'react'
import type { Message } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { IconButton } from '../elements/button.tsx'
import { Block, Name } from '../elements/text.tsx'
import { type Field, type Part, readMessage } from './read-message.ts'

interface MessageViewProps {
  message: Message
  raw: boolean
  /** It is the resume cue of a rewind. */
  cue?: boolean
  /** A rewind took it out. */
  cut?: boolean
  /** It was said after the moment that is looked at. */
  later?: boolean
  /** Selects the moment at which it, and what it asked for, is seen. */
  show?: ((place: number, isCall: boolean) => void) | null
  /** Its index, for `show`. */
  place?: number
}

export const MessageView = memo(function MessageView({
  message,
  raw,
  cue,
  cut,
  later,
  show = null,
  place = 0,
}: MessageViewProps) {
  const { role, parts } = useMemo(() => readMessage(message), [message])
  const isCall = parts.some(({ kind }) => kind === 'call')
  // Where the provider takes it in a person's message alone, the cue is that message's last part.
  const within = cue === true && parts.length > 1
  const whole = cue === true && !within
  return (
    <li
      className={`group relative grid grid-cols-[72px_minmax(0,1fr)] gap-x-3 px-4 py-1.5 ${whole && !later ? 'border-l-2 border-accent bg-accent-soft pl-3.5' : ''} ${cut ? 'text-ink-2' : later ? 'text-ink-3' : ''}`}
    >
      <span className={`pt-px text-right text-small ${whole ? 'font-medium text-accent' : 'text-ink-3'}`}>
        {whole ? <Resume /> : <Name className="block">{role}</Name>}
      </span>
      {show ? (
        <span className="absolute top-0.5 right-2 rounded-md bg-base opacity-0 focus-within:opacity-100 group-hover:opacity-100">
          <IconButton label={isCall ? 'Show what it changed' : 'Show this moment'} onClick={() => show(place, isCall)}>
            <Crosshair size={14} />
          </IconButton>
        </span>
      ) : null}
      <div className="flex min-w-0 flex-col gap-1.5">
        {raw ? (
          <Block className="font-mono text-code">{JSON.stringify(message, null, 2)}</Block>
        ) : parts.length === 0 ? (
          <span className="text-ink-3">(empty)</span>
        ) : (
          parts.map((part, index) =>
            within && index === parts.length - 1 ? (
              <div key={index} className={later ? '' : 'border-l-2 border-accent bg-accent-soft py-1 pl-2'}>
                <Resume />
                <PartView part={part} cut={false} later={later ?? false} />
              </div>
            ) : (
              <PartView key={index} part={part} cut={cut ?? false} later={later ?? false} />
            ),
          )
        )}
      </div>
    </li>
  )
})

const Resume = () => (
  <span className="inline-flex items-center gap-1 text-small font-medium text-accent">
    <RotateCcw size={12} aria-hidden="true" />
    resume
  </span>
)

function PartView({ part, cut, later }: { part: Part; cut: boolean; later: boolean }) {
  const tone = later ? 'text-ink-3' : 'text-ink-2'
  switch (part.kind) {
    case 'text':
      return <Block className={cut ? 'line-through decoration-ink-3/60' : ''}>{part.text}</Block>
    case 'thinking':
      return <Block className={`border-l border-line-strong pl-2 italic ${tone}`}>{part.text}</Block>
    case 'call':
      return <Call name={part.name} fields={part.fields} cut={cut} />
    case 'result':
      return <Result text={part.text} failed={part.failed} tone={tone} />
    case 'other':
      return <Block className={`font-mono text-code ${tone}`}>{`${part.type} ${part.json}`}</Block>
  }
}

function Call({ name, fields, cut }: { name: string; fields: Field[]; cut: boolean }) {
  const [open, setOpen] = useState(false)
  const summary = fields.map(({ text }) => text.slice(0, 200)).join('  ')
  return (
    <div className="min-w-0 overflow-hidden rounded-md border border-line bg-raised font-mono text-code">
      <button
        type="button"
        disabled={fields.length === 0}
        aria-expanded={fields.length > 0 ? open : undefined}
        onClick={() => setOpen(!open)}
        className="flex h-7 w-full min-w-0 items-center gap-2 px-2 text-left enabled:hover:bg-hover"
      >
        <Wrench size={12} aria-label="tool call" className="shrink-0 text-ink-3" />
        <span className={`shrink-0 font-semibold ${cut ? 'line-through decoration-ink-3/60' : ''}`}>
          {visibleName(name)}
        </span>
        {open ? null : <span className="truncate text-ink-2">{visible(summary.replace(/\s+/g, ' '))}</span>}
      </button>
      {open ? (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 border-t border-line px-2 py-1">
          {fields.map((field) => (
            <div key={field.name} className="contents">
              <dt className="text-ink-3">{visibleName(field.name)}</dt>
              <dd>
                <Block>{field.text}</Block>
              </dd>
            </div>
          ))}
        </dl>
      ) : null}
    </div>
  )
}

function Result({ text, failed, tone }: { text: string; failed: boolean; tone: string }) {
  return (
    <div className="flex min-w-0 gap-2">
      <CornerDownRight
        size={13}
        aria-label="result"
        className={`mt-1 shrink-0 ${failed ? 'text-bad' : 'text-ink-3'}`}
      />
      <Block className={`flex-1 font-mono text-code ${tone}`}>{text === '' ? '(no output)' : text}</Block>
    </div>
  )
}
