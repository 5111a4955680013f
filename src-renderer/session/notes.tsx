/** What a person should know of the session as it stands: what its sandbox lacks, what was copied, what went wrong. */
import { Info } from 'lucide-react'
import { Popover } from 'radix-ui'
import { visible } from '../../src-main/contract/text.ts'
import { IconButton } from '../elements/button.tsx'
import { count } from '../elements/format.ts'

export function Notes(props: { notes: readonly string[] }) {
  const notes = [...new Set(props.notes)]
  if (notes.length === 0) return null
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <IconButton label={count(notes.length, 'note')}>
          <Info size={14} />
        </IconButton>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={6}
          aria-label="Notes"
          className="z-10 max-h-[60vh] w-100 animate-rise overflow-y-auto rounded-lg border border-line bg-raised px-4 py-3 shadow-float"
        >
          <ul className="flex flex-col gap-2">
            {notes.map((note) => (
              <li key={note} className="break-words select-text">
                {visible(note)}
              </li>
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
