/** One row of the commit sheet: a file, a folder or a repository, what stands in its way, and what of it is taken. */
import { ChevronRight, TriangleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { reasonOf, wholeText } from '../../src-main/contract/commit-words.ts'
import type { CommitEntry } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { FileView } from '../changes/file-view.tsx'
import { Letter, wordOf } from '../changes/letters.tsx'
import { IconButton } from '../elements/button.tsx'
import { count } from '../elements/format.ts'
import { Name } from '../elements/text.tsx'
import { useSession } from '../host/context.ts'
import { canBeTaken, chosenOf, isBlocked, isContested, mayHaveHunks, type Row } from './choice.ts'
import { Hunks } from './hunks.tsx'
import { type Choices, UNKNOWN, useHunks } from './row-hunks.ts'

interface RowLineProps {
  row: Row
  /** The point that was last committed. */
  since: string | null
  choices: Choices
  version: number
  disabled: boolean
}

export function RowLine({ row, since, choices, version, disabled }: RowLineProps) {
  const [open, setOpen] = useState(false)
  const hunks = useHunks(row, open || choices.picks.has(row.key), choices, version)
  const [first, second] = row.entries
  if (!first) return null
  const name = nameOf(row)
  const warnings = [...new Set(row.entries.map(({ warning }) => warning).filter((warning) => warning !== null))]
  const contested = isContested(row)
  const chosen = chosenOf(row, choices.turned, choices.picks)
  // Of the host's own edits nothing is left then.
  const isWholeOver = contested && chosen === 'all'
  // A repository is many of them.
  const hasSides = !second && (first.kind === 'file' || first.kind === 'symlink')
  return (
    <li className="px-5 py-0.5">
      <div className="flex min-h-6 items-center gap-2">
        {contested || isBlocked(row) ? (
          <TriangleAlert size={14} aria-hidden="true" className="shrink-0 text-warn" />
        ) : (
          <Tick
            label={`${name}, ${wordOf(first)}`}
            chosen={chosen}
            disabled={disabled}
            turn={(taken) => choices.turn(row.key, !taken)}
          />
        )}
        <Letter status={row.entries.length > 1 ? 'modified' : first.status} />
        <Name mono className="flex-1">
          {name}
        </Name>
        {hunks.pick ? (
          <span className="shrink-0 text-small text-ink-2 tabular-nums">
            {hunks.pick.take.size} of {count(hunks.pick.of, 'hunk')}
          </span>
        ) : null}
        {hasSides ? (
          <IconButton
            label={`Difference of ${name}`}
            aria-expanded={open}
            onClick={() => setOpen((now) => !now)}
            className="size-6"
          >
            <ChevronRight size={14} aria-hidden="true" className={open ? 'rotate-90' : ''} />
          </IconButton>
        ) : null}
        {contested && canBeTaken(row) ? (
          <Decision
            name={name}
            value={hunks.pick ? 'merge' : chosen === 'all' ? 'take' : 'leave'}
            canMerge={mayHaveHunks(row) && hunks.whole === null}
            disabled={disabled}
            decide={(decision) => {
              choices.turn(row.key, decision === 'take')
              if (decision !== 'merge') return
              setOpen(true)
              choices.pick(row.key, UNKNOWN)
            }}
          />
        ) : contested || isBlocked(row) ? (
          <span className="shrink-0 text-small text-ink-2">is left out</span>
        ) : null}
      </div>
      {[...new Set(row.entries.map(reasonOf).filter((reason) => reason !== null)), ...warnings].map((text) => (
        <Remark key={text}>{text}</Remark>
      ))}
      {contested && hunks.whole ? <Remark>{`cannot be merged: ${wholeText[hunks.whole]}`}</Remark> : null}
      {open && hunks.stretches ? (
        <Hunks
          name={name}
          stretches={hunks.stretches}
          take={hunks.take}
          choose={hunks.choose}
          over={isWholeOver}
          disabled={disabled || isWholeOver}
        />
      ) : open && hasSides && !hunks.isLoading ? (
        <Difference change={first} since={since} />
      ) : null}
    </li>
  )
}

interface TickProps {
  label: string
  chosen: 'all' | 'some' | 'none'
  disabled: boolean
  turn(taken: boolean): void
}

/** Also half ticked, where a part of it is chosen. */
function Tick({ label, chosen, disabled, turn }: TickProps) {
  const box = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (box.current) box.current.indeterminate = chosen === 'some'
  }, [chosen])
  return (
    <input
      ref={box}
      type="checkbox"
      aria-label={label}
      checked={chosen === 'all'}
      disabled={disabled}
      onChange={({ target }) => turn(target.checked)}
      className="size-3.5 shrink-0 accent-accent"
    />
  )
}

type Decided = 'leave' | 'take' | 'merge'

interface DecisionProps {
  name: string
  value: Decided
  canMerge: boolean
  disabled: boolean
  decide(decision: Decided): void
}

/** What becomes of a file that both sides changed. */
const Decision = ({ name, value, canMerge, disabled, decide }: DecisionProps) => (
  <select
    aria-label={`What to do with ${name}`}
    value={value}
    disabled={disabled}
    onChange={({ target }) => decide(target.value as Decided)}
    className="h-6 shrink-0 rounded-md border border-line-strong bg-raised px-1 text-small text-ink"
  >
    <option value="leave">Leave the host’s</option>
    <option value="take">Take the sandbox’s</option>
    {canMerge ? <option value="merge">Merge both</option> : null}
  </select>
)

/** What the sandbox has of a file now, against what the host last had from it. */
function Difference({ change, since }: { change: CommitEntry; since: string | null }) {
  const session = useSession((state) => state.id)
  const files = useSession((state) => state.files)
  return (
    <div className="my-1 h-72 overflow-hidden rounded-md border border-line">
      {session ? (
        <FileView
          session={session}
          change={change}
          from={since ?? 'base'}
          to="now"
          version={files}
          layout="inline"
          ignoreWhitespace={false}
        />
      ) : null}
    </div>
  )
}

function nameOf({ path, entries }: Row): string {
  const isRepository = entries.length > 1
  const isFolder = entries.length === 1 && entries[0]?.kind === 'folder'
  return `${visibleName(path.path)}${isRepository ? ` (the repository, ${count(entries.length, 'entry', 'entries')})` : isFolder ? '/' : ''}`
}

/** Below a name, and as far in as that is. */
export const Remark = ({ children, indent = 'pl-11.5' }: { children: string; indent?: string }) => (
  <p className={`${indent} text-small break-words text-warn`}>{visible(children)}</p>
)
