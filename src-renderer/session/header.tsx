/** The open session: what it is, how it stands, and what changes it. */
import { Bookmark, FolderInput, RotateCcw, Undo2 } from 'lucide-react'
import { useStore } from 'zustand'
import { hostNotice } from '../../src-main/contract/host-words.ts'
import type { SessionDetails, Timeline } from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { bareRewindTarget, isLive } from '../../src-main/contract/timeline.ts'
import { Button } from '../elements/button.tsx'
import { Name } from '../elements/text.tsx'
import { useHost } from '../host/context.ts'
import { RulesButton } from '../rules/rules-button.tsx'
import { StateDot, stateWord } from '../sessions/state.tsx'
import { focusTimeline } from '../timeline/focus.ts'
import { pointOf } from '../timeline/moments.ts'
import type { Selection } from '../timeline/selection-store.ts'
import { CheckpointPopover } from './checkpoint-popover.tsx'
import { Notes } from './notes.tsx'
import { PauseButton } from './pause-button.tsx'
import { ShareSwitch } from './share-switch.tsx'

/** Where Rewind would go for what is selected: the point itself, or for now where a bare rewind goes. */
export function rewindTarget(timeline: Timeline, { moment }: Pick<Selection, 'moment'>) {
  return pointOf(timeline, moment) ?? bareRewindTarget(timeline.points, timeline.head) ?? null
}

export function SessionHeader({ details, timeline }: { details: SessionDetails; timeline: Timeline }) {
  const { commit, selection, rewind } = useHost()
  const moment = useStore(selection, (state) => state.moment)
  const busy = useStore(rewind, (state) => state.busy)
  const target = rewindTarget(timeline, { moment })
  const live = isLive(details)
  const host = hostNotice(details)
  return (
    <header className="flex h-12 shrink-0 items-center gap-3 border-b border-line px-4">
      <div className="flex min-w-0 items-center gap-3">
        <h1 className="flex min-w-0 text-title font-semibold">
          <Name>{details.name}</Name>
        </h1>
        <span className="flex shrink-0 items-center gap-1.5 text-small text-ink-2">
          <StateDot session={details} />
          {stateWord(details)}
        </span>
        {/* Gives way first: it is in the list too, the name is what one looks for. */}
        <span
          className="min-w-16 shrink-[1000] truncate-start text-small text-ink-3"
          title={visibleName(details.workspace)}
        >
          <bdi>{visibleName(details.workspace)}</bdi>
        </span>
        <span className="shrink-0 text-small text-ink-3 max-[1400px]:hidden" title={visible(details.engineDetail)}>
          {details.engine}
        </span>
        <Notes notes={details.notes} />
        {host ? (
          <span role="status" className="shrink-0 text-small text-warn" title={visibleName(host)}>
            {hostWord(details)}
          </span>
        ) : null}
      </div>
      <span className="flex-1" />
      {live ? (
        <div className="flex shrink-0 items-center gap-2">
          {details.begunBy === 'person' ? <ShareSwitch session={details} /> : null}
          <RulesButton key={details.id} session={details.id} />
          <PauseButton session={details} />
          {timeline.undo ? (
            <Button
              icon={<Undo2 size={14} />}
              shortcut="U"
              disabled={busy}
              onClick={() => {
                // The button goes with the undo, and would take the focus along.
                focusTimeline()
                void rewind.undo()
              }}
            >
              Undo rewind
            </Button>
          ) : null}
          <CheckpointPopover icon={<Bookmark size={14} />} />
          <Button
            icon={<FolderInput size={14} />}
            shortcut="W"
            aria-label="Commit to workspace"
            onClick={() => commit.ask()}
          >
            Commit…
          </Button>
          <Button
            look="main"
            icon={<RotateCcw size={14} />}
            shortcut="R"
            disabled={!target}
            onClick={() => (target ? rewind.ask(target) : undefined)}
          >
            Rewind
          </Button>
        </div>
      ) : null}
    </header>
  )
}

const hostWord = ({ host }: SessionDetails): string =>
  host?.there === false ? 'workspace moved' : host?.changed ? `${host.changed} changed on the host` : 'host not checked'
