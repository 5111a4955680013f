/**
 * The commit sheet: what a commit to the workspace would write, computed by the host before anything is done, and what
 * stands in its way by name. Afterwards it says what was written and offers to take that back.
 */
import { TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { useStore } from 'zustand'
import { reasonOf } from '../../src-main/contract/commit-words.ts'
import type { CommitEntry, CommitPreview, CommitResult, RewindError } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { Letter } from '../changes/letters.tsx'
import { Ago } from '../elements/ago.tsx'
import { Button } from '../elements/button.tsx'
import { Counts } from '../elements/counts.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { count } from '../elements/format.ts'
import { Loading, Nothing, ProblemLine } from '../elements/problem.tsx'
import { Name } from '../elements/text.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'
import { focusTimeline } from '../timeline/focus.ts'
import { chosenOf, countsOf, isContested, type Picks, type Row, requestFor, rowsOf, type Turned } from './choice.ts'
import { Remark, RowLine } from './row.tsx'
import type { Choices } from './row-hunks.ts'

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
  const [turned, setTurned] = useState<Turned>(new Set())
  const [picks, setPicks] = useState<Picks>(new Map())
  const asked = useAsked(session && `${session} commit`, files + looks, (signal) =>
    rpc.commit.preview({ session: session ?? '' }, { signal }),
  )
  const preview = asked.state === 'ready' ? asked.value : null
  const rows = useMemo(() => (preview ? rowsOf(preview) : []), [preview])
  useFocusBack()
  const choices: Choices = {
    turned,
    picks,
    turn: (key, isTurned) => {
      setPicks((now) => without(now, key))
      setTurned((now) => (isTurned ? new Set(now).add(key) : new Set([...now].filter((one) => one !== key))))
    },
    pick: (key, pick) => setPicks((now) => (pick ? new Map(now).set(key, pick) : without(now, key))),
  }
  const unkept = Array.isArray(problem?.data.sessions) && problem.data.sessions.length > 0
  const request = requestFor(rows, turned, picks, unkept)
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
          <Preview preview={preview} rows={rows} choices={choices} version={files + looks} disabled={busy} />
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

const without = (picks: Picks, key: string): Picks => new Map([...picks].filter(([one]) => one !== key))

/** The host's words are those of the terminal, save where it names one file. */
function nextStepFor(problem: RewindError, unkept: boolean): string | null {
  if (problem.code !== 'COMMIT_CONFLICT' || problem.data.path !== undefined) return problem.nextStep
  return unkept
    ? 'Stop what runs there; or commit all the same, and those points show what is committed.'
    : 'The list shows what the host has now.'
}

interface PreviewProps {
  preview: CommitPreview
  rows: readonly Row[]
  choices: Choices
  /** Raised where files may be others than before. */
  version: number
  disabled: boolean
}

function Preview({ preview, rows, choices, version, disabled }: PreviewProps) {
  const { conflicts, obstacles, warnings, truncated } = preview
  const { turned, picks } = choices
  const counts = countsOf(preview, rows, turned, picks)
  const partly = rows.filter((row) => chosenOf(row, turned, picks) === 'some')
  const merged = partly.filter(isContested).length
  const decided = rows.filter((row) => isContested(row) && chosenOf(row, turned, picks) !== 'none')
  const inTheWay =
    conflicts + obstacles - decided.flatMap(({ entries }) => entries.filter(({ conflict }) => conflict)).length
  const drawn = rows.slice(0, DRAWN)
  return (
    <div className="py-2">
      <p className="flex h-6 items-baseline gap-3 px-5 font-medium">
        {count(counts.added + counts.modified + counts.deleted, 'file')}
        <Counts counts={counts} />
        {partly.length > merged ? (
          <span className="text-small text-ink-2">{partly.length - merged} in part</span>
        ) : null}
        {merged > 0 ? <span className="text-small text-ink-2">{merged} merged</span> : null}
        {inTheWay > 0 ? <span className="text-small text-warn">{inTheWay} in the way</span> : null}
      </p>
      <Warnings warnings={warnings} />
      <ul aria-label="Changes to commit">
        {drawn.map((row) => (
          <RowLine
            key={row.key}
            row={row}
            since={preview.since}
            choices={choices}
            version={version}
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
            {entry.part ? <span className="shrink-0 text-small text-ink-2">in part</span> : null}
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
