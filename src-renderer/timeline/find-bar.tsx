/** Finds points while the rest stays in view: Enter goes to the next older one, Shift+Enter to the next newer. */
import { ChevronDown, ChevronUp, X } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { IconButton } from '../elements/button.tsx'

interface FindBarProps {
  typed: string
  onType(typed: string): void
  /** How many there are, and which of them is selected, counted from 1; 0 where none is. */
  found: number
  at: number
  /** 1 is the next older one, -1 the next newer. */
  step(by: 1 | -1): void
  close(): void
}

export const FIND_ID = 'timeline-find'

export function FindBar({ typed, onType, found, at, step, close }: FindBarProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close()
    else if (event.key === 'Enter') step(event.shiftKey ? -1 : 1)
    else return
    event.preventDefault()
  }
  return (
    <search
      aria-label="Find in the timeline"
      className="flex h-9 shrink-0 items-center gap-1 border-b border-line pr-1.5 pl-3"
    >
      <input
        id={FIND_ID}
        type="text"
        aria-label="Find in the timeline"
        placeholder="Find"
        spellCheck={false}
        maxLength={200}
        value={typed}
        onChange={(event) => onType(event.target.value)}
        onKeyDown={onKeyDown}
        // biome-ignore lint/a11y/noAutofocus: the bar is opened to be typed into
        autoFocus
        className="h-7 min-w-0 flex-1 rounded-md border border-line bg-base px-2 outline-none select-text placeholder:text-ink-3 focus:border-accent"
      />
      <span role="status" className="min-w-16 px-1 text-right text-small text-ink-2">
        {typed.trim() === '' ? '' : found === 0 ? 'none' : `${at || '–'} of ${found.toLocaleString('en-US')}`}
      </span>
      <IconButton label="Next newer" disabled={found === 0} onClick={() => step(-1)}>
        <ChevronUp size={15} />
      </IconButton>
      <IconButton label="Next older" disabled={found === 0} onClick={() => step(1)}>
        <ChevronDown size={15} />
      </IconButton>
      <IconButton label="Close" onClick={close}>
        <X size={15} />
      </IconButton>
    </search>
  )
}
