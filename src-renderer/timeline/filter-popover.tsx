/** Narrows the timeline to some of its points. */
import { ListFilter } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useEffect, useState } from 'react'
import { Button, IconButton } from '../elements/button.tsx'
import { onAction } from '../session/keys.ts'
import { type Filter, isFiltering, NO_FILTER, toggled } from './filter.ts'

interface Choice {
  words: string
  on: boolean
  after: Filter
}

const choicesOf = (filter: Filter): { heading: string; choices: Choice[] }[] => [
  {
    heading: 'Taken by',
    choices: [
      choice(filter, 'takenBy', 'you', 'You'),
      choice(filter, 'takenBy', 'agent', 'An agent'),
      choice(filter, 'takenBy', 'auto', 'A rule'),
    ],
  },
  {
    heading: 'Verdict',
    choices: [
      choice(filter, 'verdict', 'pass', 'Pass'),
      choice(filter, 'verdict', 'fail', 'Fail'),
      choice(filter, 'verdict', 'unknown', 'Unknown'),
    ],
  },
  {
    heading: 'Only',
    choices: [
      choice(filter, 'only', 'line', 'The current line'),
      choice(filter, 'only', 'pinned', 'Pinned'),
      choice(filter, 'only', 'committed', 'Committed'),
    ],
  },
]

function choice<Group extends keyof Filter>(
  filter: Filter,
  group: Group,
  name: Parameters<typeof toggled<Group>>[2],
  words: string,
): Choice {
  const chosen: ReadonlySet<unknown> = filter[group]
  return { words, on: chosen.has(name), after: toggled(filter, group, name) }
}

export function FilterPopover({ filter, onFilter }: { filter: Filter; onFilter(filter: Filter): void }) {
  const [open, setOpen] = useState(false)
  useEffect(() => onAction('filter', () => setOpen(true)), [])
  const filtering = isFiltering(filter)
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <IconButton label="Filter the timeline" shortcut="F" pressed={filtering}>
          <ListFilter size={15} />
        </IconButton>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          aria-label="Filter the timeline"
          className="z-10 flex w-56 animate-rise flex-col gap-2 rounded-lg border border-line bg-raised p-3 shadow-float"
        >
          {choicesOf(filter).map(({ heading, choices }) => (
            <fieldset key={heading}>
              <legend className="pb-0.5 text-tiny font-medium text-ink-3">{heading}</legend>
              {choices.map(({ words, on, after }) => (
                <label key={words} className="flex h-6 items-center gap-2 rounded px-1 hover:bg-hover">
                  <input type="checkbox" checked={on} onChange={() => onFilter(after)} className="accent-accent" />
                  {words}
                </label>
              ))}
            </fieldset>
          ))}
          <Button disabled={!filtering} onClick={() => onFilter(NO_FILTER)}>
            Show all points
          </Button>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
