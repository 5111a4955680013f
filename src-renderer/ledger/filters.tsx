/** What narrows the ledger: words, and a choice per column of what occurs in it. */
import { Search } from 'lucide-react'
import { visibleName } from '../../src-main/contract/text.ts'
import { clip } from '../elements/clip.ts'
import { type Choices, type LedgerFilters, words } from './filter.ts'

/** Longer names are cut in the list; the row shows all of it. */
const NAME_SHOWN = 60

const SELECTS: readonly { key: keyof Choices; label: string; any: string }[] = [
  { key: 'type', label: 'Event', any: 'Any event' },
  { key: 'status', label: 'Status', any: 'Any status' },
  { key: 'point', label: 'Point', any: 'Any point' },
  { key: 'decidedBy', label: 'Decided by', any: 'Anybody' },
]

interface FiltersProps {
  filters: LedgerFilters
  choices: Choices
  change(patch: Partial<LedgerFilters>): void
}

export function Filters({ filters, choices, change }: FiltersProps) {
  return (
    <search aria-label="Filter the ledger" className="flex items-center gap-1.5 border-b border-line px-4 py-1.5">
      <label className="flex h-7 min-w-24 flex-1 items-center gap-2 rounded-md border border-line bg-base px-2 focus-within:border-accent">
        <Search size={13} aria-hidden="true" className="shrink-0 text-ink-3" />
        <input
          type="search"
          aria-label="Search the ledger"
          placeholder="Search"
          spellCheck={false}
          value={filters.text}
          onChange={(event) => change({ text: event.target.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            event.preventDefault()
            if (filters.text === '') event.currentTarget.blur()
            else change({ text: '' })
          }}
          className="w-full min-w-0 bg-transparent outline-none placeholder:text-ink-3"
        />
      </label>
      {SELECTS.map(({ key, label, any }) => (
        <select
          key={key}
          aria-label={label}
          value={filters[key]}
          onChange={(event) => change({ [key]: event.target.value })}
          className={`h-7 max-w-28 rounded-md border bg-base px-1.5 text-small ${filters[key] ? 'border-accent text-ink' : 'border-line text-ink-2'}`}
        >
          <option value="">{any}</option>
          {withChosen(choices[key], filters[key]).map((value) => (
            <option key={value} value={value}>
              {visibleName(clip(key === 'point' ? value : words(value), NAME_SHOWN).text)}
            </option>
          ))}
        </select>
      ))}
    </search>
  )
}

/** What was chosen stays to be seen, also where no row has it any more. */
const withChosen = (choices: readonly string[], chosen: string): readonly string[] =>
  chosen === '' || choices.includes(chosen) ? choices : [chosen, ...choices]
