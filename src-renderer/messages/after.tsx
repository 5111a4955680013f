/** The rest of the conversation, dimmed: it was said after the point that is looked at. */
import { type Ref, useState } from 'react'
import { count } from '../elements/format.ts'
import type { Later } from './later.ts'
import { MessageView } from './message-view.tsx'

/** Drawn at first; the rest on demand. */
const PAGE = 50

interface AfterProps {
  later: readonly Later[]
  /** Index of the resume cue in the later history; null without one. */
  cue: number | null
  raw: boolean
  show: ((place: number, isCall: boolean) => void) | null
  /** The line between then and later. */
  ref: Ref<HTMLLIElement>
}

export function After({ later, cue, raw, show, ref }: AfterProps) {
  const [shown, setShown] = useState(PAGE)
  const hidden = later.length - shown
  return (
    <li ref={ref}>
      <p className="mt-2 flex items-center gap-2 px-4 py-1 text-small text-ink-2">
        After this point · {count(later.length, 'message')}
        <span className="h-px flex-1 bg-line-strong" />
      </p>
      <ol aria-label="After this point" className="bg-sunken py-1">
        {later.slice(0, shown).map(({ message, index }) => (
          <MessageView key={index} message={message} later cue={index === cue} raw={raw} show={show} place={index} />
        ))}
      </ol>
      {hidden > 0 ? (
        <button
          type="button"
          className="px-4 py-1 text-small text-accent hover:underline"
          onClick={() => setShown(shown + PAGE)}
        >
          Show {count(Math.min(PAGE, hidden), 'later message')}
        </button>
      ) : null}
    </li>
  )
}
