/**
 * The commit sheet: what a commit to the workspace would write, computed by the host before anything is done, and what
 * stands in its way by name. Afterwards it says what was written and offers to take that back.
 */
import { ChevronRight, TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { reasonOf } from '../../src-main/contract/commit-words.ts'
import type { CommitEntry, CommitPreview, CommitResult, RewindError } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { FileView } from '../changes/file-view.tsx'
import { Letter, wordOf } from '../changes/letters.tsx'
import { Ago } from '../elements/ago.tsx'
import { Button, IconButton } from '../elements/button.tsx'
import { Counts } from '../elements/counts.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { count } from '../elements/format.ts'
import { Loading, Nothing, ProblemLine } from '../elements/problem.tsx'
import { Name } from '../elements/text.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'
import { focusTimeline } from '../timeline/focus.ts'
import { canBeTaken, isBlocked, isChosen, isContested, type Row, requestFor, rowsOf, type Turned } from './choice.ts'

export function CommitSheet() {
  const { commit } = useHost()
  const open = useStore(commit, (state) => state.open)
  const result = useStore(commit, (state) => state.result)
  const workspace = useSession((state) => state.details?.workspace)
  if (!open) return null
  return (
    <Dialog
      // Each picture is a sheet of its own, so that the focus is always on what it begins with.
      key={result?.status ?? 'before'}
      title={titleFor(result)}
      onClose={() => commit.close()}
      width="w-160"
      note={
        <p className="truncate-start text-small">
          <bdi>{visibleName(workspace ?? '')}</bdi>
        </p>
      }
    >
      {result ? <Outcome result={result} /> : <Choice />}
    </Dialog>
  )
}

const titleFor = (result: CommitResult | null): string =>
  result === null
    ? 'Commit to workspace'
    : { committed: 'Committed to workspace', nothing: 'Nothing to commit', undone: 'Commit undone' }[result.status]

/** What has the focus goes with the sheet. */
const useFocusBack = (): void => useEffect(() => () => focusTimeline(), [])

/** Rows that are drawn; the terminal lists them all. */
const DRAWN = 500

function Choice() {
  const { rpc, commit } = useHost()
  const { busy, problem, looks } = useStore(commit)
  const session = useSession((state) => state.id)
  const files = useSession((state) => state.files)
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set())
  const asked = useAsked(session && `${session} commit`, files + looks, (signal) =>
    rpc.commit.preview({ session: session ?? '' }, { signal }),
  )
  const preview = asked.state === 'ready' ? asked.value : null
  const rows = useMemo(() => (preview ? rowsOf(preview) : []), [preview])
  useFocusBack()
  const turn = (key: string) =>
    setTurned((now) => {
      const next = new Set(now)
      if (!next.delete(key)) next.add(key)
      return next
    })
  const unkept = Array.isArray(problem?.data.sessions) && problem.data.sessions.length > 0
  const request = requestFor(rows, turned, unkept)
  const trouble = problem ?? (asked.state === 'failed' ? asked.problem : null)
  return (
    <>
      <div className="min-h-44 flex-1 overflow-y-auto border-y border-line">
        {preview === null ? (
          asked.state === 'loading' ? (
            <div className="h-44">
              <Loading what="Working out what would be written" />
            </div>
          ) : null
        ) : rows.length === 0 ? (
          <div className="h-44">
            <Nothing title="The host has it all">Nothing was changed here that is not there.</Nothing>
          </div>
        ) : (
          <Preview preview={preview} rows={rows} turned={turned} turn={turn} disabled={busy} />
        )}
      </div>
      <footer className="flex flex-col gap-3 px-5 py-3">
        {trouble ? <ProblemLine message={trouble.message} nextStep={nextStepFor(trouble, unkept)} /> : null}
        <div className="flex items-center justify-end gap-2">
          <Standing disabled={busy} />
          <Button data-focus-first onClick={() => commit.close()} disabled={busy}>
            Cancel
          </Button>
          <Button
            look="main"
            busy={busy}
            disabled={request === null || busy}
            onClick={() => (request ? void commit.commit(request) : undefined)}
          >
            {unkept ? 'Commit all the same' : 'Commit to workspace'}
          </Button>
        </div>
      </footer>
    </>
  )
}

/** The host's words are those of the terminal. */
function nextStepFor(problem: RewindError, unkept: boolean): string | null {
  if (problem.code !== 'COMMIT_CONFLICT') return problem.nextStep
  return unkept
    ? 'Stop what runs there; or commit all the same, and those points show what is committed.'
    : 'The list shows what the host has now.'
}

interface PreviewProps {
  preview: CommitPreview
  rows: readonly Row[]
  turned: Turned
  turn(key: string): void
  disabled: boolean
}

function Preview({ preview, rows, turned, turn, disabled }: PreviewProps) {
  const { counts, conflicts, obstacles, warnings, truncated } = preview
  const inTheWay = conflicts + obstacles
  const drawn = rows.slice(0, DRAWN)
  return (
    <div className="py-2">
      <p className="flex h-6 items-baseline gap-3 px-5 font-medium">
        {count(counts.added + counts.modified + counts.deleted, 'file')}
        <Counts counts={counts} />
        {inTheWay > 0 ? <span className="text-small text-warn">{inTheWay} in the way</span> : null}
      </p>
      <Warnings warnings={warnings} />
      <ul aria-label="Changes to commit">
        {drawn.map((row) => (
          <RowLine
            key={row.key}
            row={row}
            since={preview.since}
            chosen={isChosen(row, turned)}
            turn={() => turn(row.key)}
            disabled={disabled}
          />
        ))}
      </ul>
      {truncated || drawn.length < rows.length ? (
        <p className="px-5 pt-1 text-small text-ink-2">
          and more, which go with everything; `rewind commit --dry-run` in a terminal lists them.
        </p>
      ) : null}
    </div>
  )
}

interface RowLineProps {
  row: Row
  /** The point that was last committed. */
  since: string | null
  chosen: boolean
  turn(): void
  disabled: boolean
}

function RowLine({ row, since, chosen, turn, disabled }: RowLineProps) {
  const [open, setOpen] = useState(false)
  const [first, second] = row.entries
  if (!first) return null
  const name = nameOf(row)
  const reasons = [...new Set(row.entries.map(reasonOf).filter((reason) => reason !== null))]
  const warnings = [...new Set(row.entries.map(({ warning }) => warning).filter((warning) => warning !== null))]
  const contested = isContested(row)
  // A repository is many of them.
  const hasSides = !second && (first.kind === 'file' || first.kind === 'symlink')
  return (
    <li className="px-5 py-0.5">
      <div className="flex min-h-6 items-center gap-2">
        {contested || isBlocked(row) ? (
          <TriangleAlert size={14} aria-hidden="true" className="shrink-0 text-warn" />
        ) : (
          <input
            type="checkbox"
            aria-label={`${name}, ${wordOf(first)}`}
            checked={chosen}
            disabled={disabled}
            onChange={turn}
            className="size-3.5 shrink-0 accent-accent"
          />
        )}
        <Letter status={row.entries.length > 1 ? 'modified' : first.status} />
        <Name mono className="flex-1">
          {name}
        </Name>
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
          <select
            aria-label={`What to do with ${name}`}
            value={chosen ? 'take' : 'leave'}
            disabled={disabled}
            onChange={turn}
            className="h-6 shrink-0 rounded-md border border-line-strong bg-raised px-1 text-small text-ink"
          >
            <option value="leave">Leave the host’s</option>
            <option value="take">Take the sandbox’s</option>
          </select>
        ) : contested || isBlocked(row) ? (
          <span className="shrink-0 text-small text-ink-2">is left out</span>
        ) : null}
      </div>
      {[...reasons, ...warnings].map((text) => (
        <Remark key={text}>{text}</Remark>
      ))}
      {open && hasSides ? <Difference change={first} since={since} /> : null}
    </li>
  )
}

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
const Remark = ({ children, indent = 'pl-11.5' }: { children: string; indent?: string }) => (
  <p className={`${indent} text-small break-words text-warn`}>{visible(children)}</p>
)

function Warnings({ warnings }: { warnings: readonly string[] }) {
  return warnings.map((warning) => (
    <p key={warning} className="flex gap-2 px-5 py-0.5 text-small text-warn">
      <TriangleAlert size={13} className="mt-0.5 shrink-0" aria-hidden="true" />
      <span className="min-w-0 break-words">{visible(warning)}</span>
    </p>
  ))
}

/** The commit that stands can be taken back at any time. */
function Standing({ disabled }: { disabled: boolean }) {
  const { commit } = useHost()
  const last = useSession((state) => state.commits.findLast(({ undoneAt }) => undoneAt === null))
  if (!last) return <p className="mr-auto text-small text-ink-2">Can be undone.</p>
  return (
    <p className="mr-auto flex items-center gap-2 text-small text-ink-2">
      <span>
        Last commit <Ago at={last.at} />
      </span>
      <Counts counts={last.counts} />
      <Button look="quiet" disabled={disabled} onClick={() => void commit.undo(last.id)}>
        Undo last commit
      </Button>
    </p>
  )
}

function Outcome({ result }: { result: CommitResult }) {
  const { commit } = useHost()
  const { busy, problem } = useStore(commit)
  const { status, written, skipped, counts, warnings, refs, truncated } = result
  const done = result.commit
  useFocusBack()
  return (
    <>
      <div className="min-h-24 flex-1 overflow-y-auto border-y border-line py-2">
        <p role="status" className="flex items-baseline gap-3 px-5 font-medium">
          {status === 'nothing'
            ? 'The host has it all already.'
            : status === 'undone'
              ? 'The host has again what it had before.'
              : `${count(counts.added + counts.modified + counts.deleted, 'file')} written`}
          {status === 'committed' ? <Counts counts={counts} /> : null}
        </p>
        <Warnings warnings={warnings} />
        <Entries label="Written" entries={written} truncated={truncated} />
        {skipped.length > 0 ? <p className="px-5 pt-2 font-medium">Left as the host has it</p> : null}
        <Entries label="Left out" entries={skipped} truncated={false} />
        {refs.map((ref) => (
          <p key={ref} className="px-5 text-small text-ink-2">
            The sandbox’s own commits: <span className="font-mono">{visibleName(ref)}</span>
          </p>
        ))}
      </div>
      <footer className="flex flex-col gap-3 px-5 py-3">
        {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
        <div className="flex items-center justify-end gap-2">
          {status === 'committed' && done ? (
            <Button busy={busy} disabled={busy} onClick={() => void commit.undo(done.id)}>
              Undo commit
            </Button>
          ) : null}
          <Button look="main" data-focus-first onClick={() => commit.close()} disabled={busy}>
            Done
          </Button>
        </div>
      </footer>
    </>
  )
}

interface EntriesProps {
  label: string
  entries: readonly CommitEntry[]
  truncated: boolean
}

function Entries({ label, entries, truncated }: EntriesProps): ReactNode {
  if (entries.length === 0) return null
  return (
    <ul aria-label={label}>
      {entries.slice(0, DRAWN).map((entry) => (
        <li key={entry.rawPath ?? entry.path} className="px-5">
          <div className="flex h-6 items-center gap-2">
            <Letter status={entry.status} />
            <Name mono>{entry.kind === 'folder' ? `${entry.path}/` : entry.path}</Name>
          </div>
          {[reasonOf(entry), entry.warning].map((text) =>
            text ? (
              <Remark key={text} indent="pl-6">
                {text}
              </Remark>
            ) : null,
          )}
        </li>
      ))}
      {truncated || entries.length > DRAWN ? <li className="px-5 text-small text-ink-2">and more</li> : null}
    </ul>
  )
}
