/** What runs in the sandbox now, with the ports that it listens on; for a point, what was running then. */
import { ExternalLink } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Activity, CommandRecord, OpenedPort, ProcessDetails, RewindError } from '../../src-main/contract/index.ts'
import { onLoopback } from '../../src-main/contract/loopback.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { isLive } from '../../src-main/contract/timeline.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Ago } from '../elements/ago.tsx'
import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { useFocusBack } from '../elements/focus-back.ts'
import { count, shown, size, took } from '../elements/format.ts'
import { Loading, Nothing, Problem, ProblemLine } from '../elements/problem.tsx'
import { Name } from '../elements/text.tsx'
import { useHost, useSelection, useSession } from '../host/context.ts'
import { momentName, newestOf, pointOf } from '../timeline/moments.ts'
import { NOW } from '../timeline/selection-store.ts'
import { useActivity } from './use-activity.ts'

export function Processes() {
  const timeline = useSession((state) => state.timeline)
  const details = useSession((state) => state.details)
  const moment = useSelection((state) => (timeline ? newestOf(timeline, state) : NOW))
  const point = pointOf(timeline, moment)
  if (point) return <Then name={momentName(timeline, moment)} running={point.running} />
  if (!details) return <Loading what="Looking" />
  if (!isLive(details)) return <Nothing title="Nothing runs">Processes ended with the session.</Nothing>
  return <Now key={details.id} session={details.id} paused={details.status === 'paused'} />
}

function Then({ name, running }: { name: string; running: readonly string[] }) {
  if (running.length === 0) return <Nothing title="No command was running">Processes of now are shown at now.</Nothing>
  return (
    <div className="h-full min-h-0 overflow-y-auto">
      <h3 className="flex h-9 items-center gap-1 border-b border-line px-4 text-small text-ink-2">
        {count(running.length, 'command')} ran at <Name>{name}</Name>
      </h3>
      <ul aria-label="Commands that were running">
        {running.map((command, index) => (
          <li key={index} className="flex h-7 items-center px-4">
            <Name mono>{command}</Name>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Now({ session, paused }: { session: string; paused: boolean }) {
  const commands = useSession((state) => state.commands)
  const files = useSession((state) => state.files)
  const running = commands.filter(({ status }) => status === 'running')
  const version = `${running.map(({ id }) => id).join()} ${files} ${paused}`
  const { activity, open, problem, look } = useActivity(session, version)
  if (problem && open && open.length > 0)
    return (
      <div className="h-full min-h-0 overflow-y-auto">
        <ProblemLine message={problem.message} nextStep={problem.nextStep} />
        <Ports ports={[]} opened={open.map(unasked)} session={session} onChanged={look} />
      </div>
    )
  if (!activity)
    return problem ? (
      <Problem message={problem.message} nextStep={problem.nextStep} again={() => void look()} />
    ) : (
      <Loading what="Looking" />
    )
  const { processes, ports, opened } = activity
  if (processes.length === 0 && opened.length === 0)
    return <Nothing title="Nothing runs">Commands that run, and servers they leave behind, are shown here.</Nothing>
  return (
    <div className="h-full min-h-0 overflow-y-auto">
      {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
      {paused ? (
        <p role="status" className="border-b border-line px-4 py-2 text-small text-ink-2">
          Paused: nothing of this runs until it is unpaused.
        </p>
      ) : null}
      {processes.length === 0 ? (
        <p className="px-4 py-2 text-small text-ink-2">Nothing runs.</p>
      ) : (
        <ProcessTable processes={processes} commands={commands} session={session} onStopped={look} />
      )}
      {ports.length > 0 || opened.length > 0 ? (
        <Ports ports={ports} opened={opened} session={session} onChanged={look} />
      ) : null}
    </div>
  )
}

const HEAD = 'px-2 py-1 font-normal first:pl-4 last:pr-4'
const CELL = 'h-7 px-2 first:pl-4 last:pr-4'

interface TableProps {
  processes: readonly ProcessDetails[]
  commands: readonly CommandRecord[]
  session: string
  onStopped(): Promise<void>
}

function ProcessTable({ processes, commands, session, onStopped }: TableProps) {
  const [asking, setAsking] = useState<CommandRecord | null>(null)
  const asks = useFocusBack(asking !== null)
  const { busy, problem, act } = useAct(onStopped)
  const commandOf = ({ commandId }: ProcessDetails) => commands.find(({ id }) => id === commandId)
  return (
    <>
      {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
      <table aria-label="Processes" className="w-full table-fixed border-collapse text-left">
        <thead className="text-small text-ink-3">
          <tr className="border-b border-line">
            <th className={`${HEAD} w-18`}>PID</th>
            <th className={HEAD}>Process</th>
            <th className={`${HEAD} w-20 text-right`}>CPU</th>
            <th className={`${HEAD} w-22 text-right`}>Memory</th>
            <th className={`${HEAD} w-24`}>Started</th>
            <th className={`${HEAD} w-20`}>
              <span className="sr-only">Stop</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {processes.map((process) => {
            const command = commandOf(process)
            return (
              <tr key={process.key} className="hover:bg-hover">
                <td className={`${CELL} text-ink-2`}>{process.pid}</td>
                <td className={CELL} title={startedBy(process, command)}>
                  <span className="flex min-w-0">
                    <Name mono className="flex-1">
                      {process.command}
                    </Name>
                  </span>
                </td>
                <td className={`${CELL} text-right text-small text-ink-2`}>{took(process.cpuMs)}</td>
                <td className={`${CELL} text-right text-small text-ink-2`}>{size(process.rssBytes)}</td>
                <td className={`${CELL} text-small text-ink-2`}>
                  <Ago at={process.startedAt} />
                </td>
                <td className={`${CELL} text-right`}>
                  <Button
                    look="quiet"
                    aria-label={`Stop ${visibleName(process.command)} (${process.pid})`}
                    busy={busy === process.key}
                    disabled={busy !== null}
                    onClick={() => {
                      if (command?.status === 'running' && isWhole(process, processes)) {
                        asks()
                        setAsking(command)
                      } else void act(process.key, (rpc) => rpc.processes.stop({ session, key: process.key }))
                    }}
                  >
                    Stop
                  </Button>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {asking ? (
        <Dialog
          title="Stop this command?"
          note="It ends with all that it started, and whoever waits for it is told that it was cancelled."
          onClose={() => setAsking(null)}
          width="w-110"
        >
          <p className="mx-5 overflow-x-auto rounded-md bg-sunken px-3 py-2 font-mono text-code">
            {visible(shown(asking.command))}
          </p>
          <footer className="flex justify-end gap-2 px-5 py-4">
            <Button tall data-focus-first onClick={() => setAsking(null)}>
              Cancel
            </Button>
            <Button
              tall
              look="main"
              onClick={() => {
                setAsking(null)
                const { id } = asking
                void act(id, (rpc) => rpc.commands.stop({ session, id }))
              }}
            >
              Stop command
            </Button>
          </footer>
        </Dialog>
      ) : null}
    </>
  )
}

/** The first process of a command is taken for the command itself. */
const isWhole = ({ commandId, key }: ProcessDetails, all: readonly ProcessDetails[]): boolean =>
  all.find((one) => one.commandId === commandId)?.key === key

const startedBy = ({ command }: ProcessDetails, record: CommandRecord | undefined): string =>
  record ? `${visibleName(command)}\nstarted by ${visibleName(shown(record.command))}` : visibleName(command)

/** One thing at a time, by its key. */
function useAct(onDone: () => Promise<void>) {
  const { rpc } = useHost()
  const [busy, setBusy] = useState<string | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const act = async (key: string, how: (to: typeof rpc) => Promise<unknown>) => {
    setBusy(key)
    setProblem(null)
    try {
      await how(rpc)
    } catch (error) {
      setProblem(fromRpcError(error))
    } finally {
      await onDone()
      setBusy(null)
    }
  }
  return { busy, problem, act }
}

interface PortsProps extends Pick<Activity, 'ports'> {
  /** `listening` is null where it is not known. */
  opened: readonly (OpenedPort & { listening: boolean | null })[]
  session: string
  onChanged(): Promise<void>
}

const unasked = (one: OpenedPort) => ({ ...one, listening: null })

function Ports({ ports, opened, session, onChanged }: PortsProps) {
  const { busy, problem, act } = useAct(onChanged)
  const rows = [
    ...ports.map(({ port, address, command, url }) => ({
      port,
      address,
      command,
      silence: null,
      url,
      isOpened: opened.some((one) => one.port === port),
      // A server may listen by both protocols: what is done with its port is done with both.
      isFirst: ports.find((one) => one.port === port && onLoopback(one.address))?.address === address,
    })),
    ...opened
      .filter(({ listening }) => !listening)
      .map(({ port, url, listening }) => ({
        port,
        address: '',
        command: null,
        silence: listening === null ? 'not known' : 'nothing listens',
        url,
        isOpened: true,
        isFirst: true,
      })),
  ].sort((a, b) => a.port - b.port)
  return (
    <section aria-label="Ports" className="border-t border-line">
      <h3 className="flex h-9 items-center px-4 text-small text-ink-2">Listening</h3>
      {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
      <ul>
        {rows.map(({ port, address, command, silence, url, isOpened, isFirst }) => (
          // The same while its server comes and goes.
          <li key={isFirst ? port : `${address} ${port}`} className="flex h-8 items-center gap-3 px-4">
            <span className="w-14 shrink-0 font-medium">{port}</span>
            <span className="w-32 shrink-0 truncate text-small text-ink-2">{visibleName(address)}</span>
            {command === null ? (
              <span className="min-w-0 flex-1 text-ink-3">{silence}</span>
            ) : (
              <Name mono className="flex-1">
                {command}
              </Name>
            )}
            <Reach
              port={port}
              url={url}
              isOpened={isOpened && isFirst}
              canOpen={isFirst}
              busy={busy === String(port)}
              disabled={busy !== null}
              onOpen={() => act(String(port), (rpc) => rpc.ports.open({ session, port }))}
              onClose={() => act(String(port), (rpc) => rpc.ports.close({ session, port }))}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface ReachProps {
  port: number
  url: string | null
  /** By a person, who may close it again. */
  isOpened: boolean
  canOpen: boolean
  busy: boolean
  disabled: boolean
  onOpen(): Promise<void>
  onClose(): Promise<void>
}

/** Where this machine reaches a port, or the way to have it reached. */
function Reach({ port, url, isOpened, canOpen, busy, disabled, onOpen, onClose }: ReachProps) {
  const place = useRef<HTMLSpanElement>(null)
  /** What there was when it was pressed last; undefined once that was answered. */
  const before = useRef<string | null | undefined>(undefined)
  // What was pressed goes: the keyboard goes on with what comes in its place, unless the person went elsewhere.
  useEffect(() => {
    if (busy || before.current === undefined) return
    const { activeElement } = document
    const isElsewhere = activeElement !== document.body && !place.current?.contains(activeElement)
    if (!isElsewhere) place.current?.querySelector<HTMLElement>('a, button')?.focus()
    if (isElsewhere || url !== before.current) before.current = undefined
  }, [busy, url])
  const press = (act: () => Promise<void>) => () => {
    before.current = url
    void act()
  }
  if (url === null && !canOpen) return <Quiet>reachable inside only</Quiet>
  return (
    <span ref={place} className="flex shrink-0 items-center gap-3">
      {url === null ? (
        <Button
          look="quiet"
          aria-label={`Open to this machine: port ${port}`}
          busy={busy}
          disabled={disabled}
          onClick={press(onOpen)}
        >
          Open to this machine
        </Button>
      ) : (
        <>
          {isOpened ? <Quiet>{new URL(url).host}</Quiet> : null}
          <a
            href={url}
            target="_blank"
            rel="noreferrer"
            aria-label={`Open port ${port}`}
            title={url}
            className="flex shrink-0 items-center gap-1 rounded-md px-1.5 text-accent hover:underline"
          >
            Open <ExternalLink size={14} aria-hidden="true" />
          </a>
        </>
      )}
      {isOpened ? (
        <Button look="quiet" aria-label={`Close port ${port}`} busy={busy} disabled={disabled} onClick={press(onClose)}>
          Close
        </Button>
      ) : null}
    </span>
  )
}

const Quiet = ({ children }: { children: ReactNode }) => (
  <span className="shrink-0 text-small text-ink-3">{children}</span>
)
