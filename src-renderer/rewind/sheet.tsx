/**
 * The rewind sheet: what a rewind will do, computed by the host before anything is done. Cancel has the focus, so that
 * a stray Enter changes nothing.
 */
import { FileDiff, GitBranch, MessageSquare, SquareTerminal } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useStore } from 'zustand'
import type { Change, Point, RewindPreview, Timeline } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Letter } from '../changes/letters.tsx'
import { moreThan } from '../changes/more.ts'
import { Ago } from '../elements/ago.tsx'
import { Button } from '../elements/button.tsx'
import { Counts } from '../elements/counts.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { count } from '../elements/format.ts'
import { Loading, ProblemLine } from '../elements/problem.tsx'
import { Segments } from '../elements/segments.tsx'
import { Name } from '../elements/text.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'
import { focusTimeline } from '../timeline/focus.ts'
import { momentName } from '../timeline/moments.ts'
import { VerdictWord } from '../timeline/row.tsx'
import { takenBy, titleOf } from '../timeline/words.ts'
import type { Half } from './rewind-store.ts'

export function RewindSheet() {
  const { rewind } = useHost()
  const to = useStore(rewind, (state) => state.sheet)
  return to ? <Sheet key={to.id} to={to} /> : null
}

/** A tip has no label of its own: it is what a rewind left. */
const sheetName = (to: Point): string =>
  to.kind === 'tip' && to.label === null ? `what was ${titleOf(to).replace(/^L/, 'l')}` : titleOf(to)

function Sheet({ to }: { to: Point }) {
  const { rpc, rewind } = useHost()
  const { busy, problem } = useStore(rewind)
  const session = useSession((state) => state.id)
  const timeline = useSession((state) => state.timeline)
  const files = useSession((state) => state.files)
  const [half, setHalf] = useState<Half>('both')
  const asked = useAsked(session && `${session} preview ${to.id}`, files, (signal) =>
    rpc.timeline.preview({ session: session ?? '', to: to.id }, { signal }),
  )
  // After Escape, Cancel and the rewind itself.
  useEffect(() => () => focusTimeline(), [])
  const trouble = problem ?? (asked.state === 'failed' ? asked.problem : null)
  return (
    <Dialog
      title={`Rewind to ${sheetName(to)}`}
      onClose={() => (busy ? undefined : rewind.cancel())}
      note={
        <span className="flex items-baseline gap-1.5 text-small">
          <span>
            <Ago at={to.at} /> · {takenBy(to)}
            {to.why && to.kind !== 'tip' ? ` · ${visibleName(to.why)}` : ''}
          </span>
          {to.verdict ? <VerdictWord verdict={to.verdict.status} /> : null}
        </span>
      }
    >
      <div className="px-5 pb-3">
        <Segments
          label="What goes back"
          value={half}
          onChange={setHalf}
          choices={[
            { value: 'both', text: 'Files and messages' },
            { value: 'files', text: 'Files' },
            { value: 'messages', text: 'Messages' },
          ]}
        />
      </div>
      <div className="min-h-44 flex-1 overflow-y-auto border-y border-line">
        {asked.state === 'ready' ? (
          <Effects preview={asked.value} half={half} timeline={timeline} />
        ) : asked.state === 'loading' ? (
          <div className="h-44">
            <Loading what="Working out what goes" />
          </div>
        ) : null}
      </div>
      <footer className="flex flex-col gap-3 px-5 py-3">
        {trouble ? <ProblemLine message={trouble.message} nextStep={trouble.nextStep} /> : null}
        <div className="flex items-center justify-end gap-2">
          <p className="mr-auto text-small text-ink-2">Can be undone.</p>
          <Button data-focus-first onClick={() => rewind.cancel()} disabled={busy}>
            Cancel
          </Button>
          <Button look="main" busy={busy} disabled={asked.state !== 'ready'} onClick={() => void rewind.rewind(half)}>
            Rewind
          </Button>
        </div>
      </footer>
    </Dialog>
  )
}

interface EffectsProps {
  preview: RewindPreview
  half: Half
  timeline: Timeline | null
}

function Effects({ preview, half, timeline }: EffectsProps) {
  const { changes, counts, messagesLost, processes, pointsLeft } = preview
  const files = half !== 'messages'
  const messages = half !== 'files'
  const changed = counts.added + counts.modified + counts.deleted
  return (
    <ul className="py-2">
      <Effect
        icon={<FileDiff size={15} />}
        quiet={!files || changes.length === 0}
        title={
          !files
            ? 'Files stay as they are'
            : changes.length === 0
              ? 'No file changes'
              : changed === 0
                ? 'Folders and modes change back'
                : `${count(changed, 'file')} ${changed === 1 ? 'changes' : 'change'} back`
        }
        aside={files ? <Counts counts={counts} /> : null}
      >
        {files && changes.length > 0 ? <ChangeList changes={changes} changed={changed} /> : null}
      </Effect>
      <Effect
        icon={<MessageSquare size={15} />}
        quiet={!messages || messagesLost === 0}
        title={
          !messages
            ? 'Messages stay as they are'
            : messagesLost === 0
              ? 'No message goes'
              : `${count(messagesLost, 'message')} ${messagesLost === 1 ? 'goes' : 'go'}`
        }
      />
      <Effect
        icon={<SquareTerminal size={15} />}
        quiet={!files || processes.length === 0}
        title={
          !files || processes.length === 0
            ? 'No process stops'
            : `${count(processes.length, 'process', 'processes')} ${processes.length === 1 ? 'stops' : 'stop'}`
        }
      >
        {files
          ? processes.map(({ pid, command }) => (
              <p key={pid} className="flex h-6 items-center gap-2 text-ink-2">
                <span className="w-12 shrink-0 text-right text-small text-ink-3">{pid}</span>
                <Name mono>{command}</Name>
              </p>
            ))
          : null}
      </Effect>
      {pointsLeft.length > 0 ? (
        <Effect
          icon={<GitBranch size={15} />}
          title={`${count(pointsLeft.length, 'point')} ${pointsLeft.length === 1 ? 'leaves' : 'leave'} the line, kept as a branch`}
        >
          <p className="truncate text-small text-ink-2">
            {pointsLeft.map((id) => visibleName(momentName(timeline, id))).join(', ')}
          </p>
        </Effect>
      ) : null}
    </ul>
  )
}

interface EffectProps {
  icon: ReactNode
  title: string
  aside?: ReactNode
  quiet?: boolean
  children?: ReactNode
}

function Effect({ icon, title, aside, quiet = false, children }: EffectProps) {
  return (
    <li className="flex gap-3 px-5 py-1">
      <span className={`mt-0.5 ${quiet ? 'text-ink-3' : 'text-ink'}`} aria-hidden="true">
        {icon}
      </span>
      <div className="min-w-0 flex-1">
        <p className={`flex items-baseline gap-3 ${quiet ? 'text-ink-3' : 'font-medium'}`}>
          {title}
          {aside}
        </p>
        {children}
      </div>
    </li>
  )
}

/** Beyond this the list says how many more there are; the Changes pane holds them all. */
const LISTED = 200

function ChangeList({ changes, changed }: { changes: Change[]; changed: number }) {
  const listed = changes.slice(0, LISTED)
  const more = moreThan(listed, changes, changed)
  return (
    <ul aria-label="Files that change back" className="mt-1 max-h-40 overflow-y-auto">
      {listed.map((change) => (
        <li key={change.path} className="flex h-6 items-center gap-2">
          <Letter status={change.status} />
          <Name mono>{change.path}</Name>
        </li>
      ))}
      {more > 0 ? <li className="text-small text-ink-2">and {more.toLocaleString()} more</li> : null}
    </ul>
  )
}
