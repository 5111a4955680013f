/** Commands of the session, newest first, and what the chosen one wrote; live while it runs. */
import {
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleHelp,
  CircleSlash,
  CircleX,
  Crosshair,
  SquareTerminal,
  Timer,
} from 'lucide-react'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Group, Panel, Separator } from 'react-resizable-panels'
import type { CommandRecord, RewindError, VerdictStatus } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { isLive } from '../../src-main/contract/timeline.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Ago } from '../elements/ago.tsx'
import { Button, IconButton } from '../elements/button.tsx'
import { useRunningFor } from '../elements/clock.ts'
import { shown, size, took } from '../elements/format.ts'
import { Loading, Nothing, ProblemLine } from '../elements/problem.tsx'
import { Spinner } from '../elements/spinner.tsx'
import { useStickToEnd } from '../elements/stick.ts'
import { Name } from '../elements/text.tsx'
import { useHost, useSelection, useSession } from '../host/context.ts'
import { act } from '../session/keys.ts'
import { TerminalView } from '../terminal/terminal.tsx'
import { endOf, newestOf } from '../timeline/moments.ts'
import { VerdictWord } from '../timeline/row.tsx'
import { NOW } from '../timeline/selection-store.ts'
import { momentAfter } from '../timeline/step.ts'
import { AnsiText } from './ansi-text.tsx'
import { followOutput, type StreamText } from './output-reader.ts'
import { isVerifier, verdictOf } from './verdict.ts'

/** Older commands than these are reached by the CLI; a list of ten thousand helps nobody here. */
const LISTED = 500

export function Output() {
  const commands = useSession((state) => state.commands)
  const until = useMomentEnd()
  const [choice, setChoice] = useState<{ id: string; until: Date | null } | null>(null)
  // Another moment in view is another question: what was chosen before does not answer it.
  const opened = useSelection((state) => state.shell)
  const picked = choice && choice.until === until ? choice.id : null
  const setPicked = (id: string) => setChoice({ id, until })
  const newestFirst = useMemo(() => commands.slice(-LISTED).reverse(), [commands])
  const command =
    newestFirst.find(({ id }) => id === picked) ??
    newestFirst.find(({ startedAt }) => !isLater(startedAt, until)) ??
    newestFirst[0]
  useEffect(() => {
    if (opened) setChoice({ id: opened, until: null })
  }, [opened])
  if (!command)
    return (
      <Nothing title="No command has run yet">
        What runs in the sandbox is shown here as it runs.
        <span className="mt-3 block">
          <ShellButton />
        </span>
      </Nothing>
    )
  return (
    <Group orientation="vertical" className="h-full">
      <Panel id="commands" defaultSize={168} minSize={56} groupResizeBehavior="preserve-pixel-size">
        <div className="flex h-full flex-col">
          <div className="flex h-9 shrink-0 items-center justify-end border-b border-line px-4">
            <ShellButton />
          </div>
          <CommandList commands={newestFirst} shown={command.id} until={until} pick={setPicked} />
        </div>
      </Panel>
      <Separator className="h-px bg-line outline-none data-[separator=active]:bg-accent data-[separator=hover]:bg-accent" />
      <Panel id="output" minSize={96}>
        <CommandOutput key={command.id} command={command} />
      </Panel>
    </Group>
  )
}

/**
 * When the moment in view gave way to the next point; null for now. What a point was taken before (its tool call, its
 * verifier) ran until then; commands that began later had not run yet.
 */
function useMomentEnd(): Date | null {
  const timeline = useSession((state) => state.timeline)
  const moment = useSelection((state) => (timeline ? newestOf(timeline, state) : NOW))
  return timeline ? endOf(timeline, moment) : null
}

const isLater = (startedAt: Date, until: Date | null): boolean => until !== null && startedAt > until

interface CommandListProps {
  commands: CommandRecord[]
  shown: string
  until: Date | null
  pick(id: string): void
}

function CommandList({ commands, shown: chosen, until, pick }: CommandListProps) {
  const ledger = useSession((state) => state.ledger)
  const active = commands.findIndex(({ id }) => id === chosen)
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: commands.length - 1 }[event.key]
    const command = to === undefined ? undefined : commands[to]
    if (!command) return
    event.preventDefault()
    pick(command.id)
    document.getElementById(`command-${command.id}`)?.scrollIntoView({ block: 'nearest' })
  }
  return (
    <div
      role="listbox"
      aria-label="Commands"
      aria-activedescendant={`command-${chosen}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      className="min-h-0 flex-1 overflow-y-auto"
    >
      {commands.map((command) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the listbox has the keys
        // biome-ignore lint/a11y/useFocusableInteractive: focus stays on the listbox
        <div
          key={command.id}
          id={`command-${command.id}`}
          role="option"
          aria-selected={command.id === chosen}
          aria-label={`${visibleName(shown(command.command))}, ${statusWord(command)}${isLater(command.startedAt, until) ? ', later' : ''}`}
          onClick={() => pick(command.id)}
          className={`flex h-7 items-center gap-2 px-4 ${command.id === chosen ? 'bg-accent-soft' : 'hover:bg-hover'} ${isLater(command.startedAt, until) ? 'text-ink-3' : ''}`}
        >
          <StatusIcon command={command} verdict={verdictOf(command, commands, ledger)} />
          <Name mono className="flex-1">
            {shown(command.command)}
          </Name>
          {command.tool ? <span className="shrink-0 text-small text-ink-3">{visibleName(command.tool)}</span> : null}
          <Duration command={command} />
        </div>
      ))}
    </div>
  )
}

export function statusWord(command: CommandRecord): string {
  if (command.status !== 'exited')
    return { running: 'running', 'timed-out': 'timed out', cancelled: 'cancelled', lost: 'lost' }[command.status]
  return command.signal ? `ended by ${command.signal}` : `exit ${command.code ?? '?'}`
}

/** A verifier that has ended has said what it says; its exit code is no success and no failure. */
const failed = (command: CommandRecord): boolean =>
  command.status !== 'running' && !(command.status === 'exited' && (command.code === 0 || isVerifier(command)))

const VERDICTS = {
  pass: [CircleCheck, 'text-ok'],
  fail: [CircleX, 'text-bad'],
  unknown: [CircleHelp, 'text-warn'],
} as const

function StatusIcon({ command, verdict }: { command: CommandRecord; verdict: VerdictStatus | null }) {
  const { status } = command
  if (isVerifier(command) && status === 'exited') {
    const [Icon, tone] = verdict === null ? ([CircleDot, 'text-ink-3'] as const) : VERDICTS[verdict]
    return <Icon size={14} aria-hidden="true" className={`shrink-0 ${tone}`} />
  }
  if (status === 'running')
    return (
      <span className="text-accent">
        <Spinner />
      </span>
    )
  const Icon =
    status === 'timed-out'
      ? Timer
      : status === 'cancelled'
        ? CircleSlash
        : status === 'lost'
          ? CircleDashed
          : failed(command)
            ? CircleX
            : CircleCheck
  const tone = status === 'cancelled' || status === 'lost' ? 'text-ink-3' : failed(command) ? 'text-bad' : 'text-ok'
  return <Icon size={14} aria-hidden="true" className={`shrink-0 ${tone}`} />
}

function Duration({ command }: { command: CommandRecord }) {
  return (
    <span className="w-16 shrink-0 text-right text-small text-ink-2">
      {command.endedAt ? (
        took(command.endedAt.getTime() - command.startedAt.getTime())
      ) : (
        <RunningFor since={command.startedAt} />
      )}
    </span>
  )
}

const RunningFor = ({ since }: { since: Date }) => <>{useRunningFor(since)}</>

function CommandOutput({ command }: { command: CommandRecord }) {
  const { rpc, selection } = useHost()
  const timeline = useSession((state) => state.timeline)
  const [stopping, setStopping] = useState(false)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const verdict = useSession(({ commands, ledger }) => verdictOf(command, commands, ledger))
  const opened = useSelection((state) => state.shell)
  const running = command.status === 'running'
  const stop = () => {
    setStopping(true)
    rpc.commands
      .stop({ session: command.session, id: command.id })
      .catch((error) => setProblem(fromRpcError(error)))
      .finally(() => setStopping(false))
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-3 border-b border-line px-4 text-small">
        <span className={failed(command) ? 'text-bad' : 'text-ink-2'}>{statusWord(command)}</span>
        {verdict ? <VerdictWord verdict={verdict} /> : null}
        <Ago at={command.startedAt} className="text-ink-2" />
        {command.note ? <Name className="text-ink-2">{command.note}</Name> : null}
        <span className="flex-1" />
        <IconButton
          label="Show what it changed"
          onClick={() => {
            if (timeline) selection.changesOf(momentAfter(timeline, command.endedAt))
          }}
        >
          <Crosshair size={14} />
        </IconButton>
        {running ? (
          <Button busy={stopping} onClick={stop}>
            Stop
          </Button>
        ) : null}
      </header>
      {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
      {command.terminal ? (
        <TerminalView command={{ ...command, terminal: command.terminal }} focused={command.id === opened} />
      ) : (
        <Streams command={command} />
      )}
    </div>
  )
}

function ShellButton() {
  const live = useSession((state) => state.details !== null && isLive(state.details))
  return live ? (
    <Button icon={<SquareTerminal size={14} />} shortcut="T" onClick={() => act('shell')}>
      New shell
    </Button>
  ) : null
}

function Streams({ command }: { command: CommandRecord }) {
  const stdout = useStream(command, 'stdout')
  const stderr = useStream(command, 'stderr')
  const running = command.status === 'running'
  const silent = !stdout.shown && !stderr.shown
  return (
    <Scroll version={`${stdout.shown?.text.length} ${stderr.shown?.text.length}`}>
      {stdout.problem ? <ProblemLine message={stdout.problem.message} nextStep={stdout.problem.nextStep} /> : null}
      {silent && !stdout.done ? <Loading what={running ? 'Nothing written yet' : 'Reading'} /> : null}
      {silent && stdout.done && stderr.done && !stdout.problem ? (
        <p className="font-sans text-ink-3">It wrote nothing.</p>
      ) : null}
      {stdout.shown ? <Written stream={stdout.shown} /> : null}
      {stderr.shown ? (
        <>
          {stdout.shown ? (
            <p className="mt-2 border-t border-line pt-1 font-sans text-small text-ink-3">stderr</p>
          ) : null}
          <Written stream={stderr.shown} />
        </>
      ) : null}
    </Scroll>
  )
}

function useStream(command: CommandRecord, stream: 'stdout' | 'stderr') {
  const { rpc } = useHost()
  const [shown, setShown] = useState<StreamText | null>(null)
  const [done, setDone] = useState(false)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const { session, id } = command
  const known = useRef(stream === 'stdout' ? command.stdoutBytes : command.stderrBytes).current
  useEffect(() => {
    const abort = new AbortController()
    followOutput({ rpc, session, id, stream, known, onText: setShown, signal: abort.signal })
      .catch((error) => {
        if (!abort.signal.aborted) setProblem(fromRpcError(error))
      })
      .finally(() => {
        if (!abort.signal.aborted) setDone(true)
      })
    return () => abort.abort()
  }, [rpc, session, id, stream, known])
  return { shown, done, problem }
}

function Scroll({ version, children }: { version: string; children: React.ReactNode }) {
  return (
    <div
      ref={useStickToEnd<HTMLDivElement>(version)}
      role="log"
      aria-label="Output"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller must be reachable by key
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto bg-sunken px-4 py-2 font-mono text-code select-text"
    >
      {children}
    </div>
  )
}

function Written({ stream }: { stream: StreamText }) {
  return (
    <>
      {stream.skipped > 0 ? <p className="font-sans text-small text-ink-3">{size(stream.skipped)} earlier</p> : null}
      <AnsiText>{stream.text}</AnsiText>
    </>
  )
}
