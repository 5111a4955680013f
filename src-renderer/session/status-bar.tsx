/** The line at the bottom: what runs, what the last point cost, how the host is. */
import { useMemo } from 'react'
import type { CommandRecord } from '../../src-main/contract/index.ts'
import { useRunningFor } from '../elements/clock.ts'
import { shown, size, took } from '../elements/format.ts'
import { Spinner } from '../elements/spinner.tsx'
import { Name } from '../elements/text.tsx'
import { useConnection, useHost, useSession } from '../host/context.ts'

export function StatusBar() {
  const running = useSession((state) => state.commands.findLast((command) => command.status === 'running'))
  const attempt = useSession((state) => state.attempt)
  const points = useSession((state) => state.timeline?.points)
  const last = useMemo(() => points?.findLast((point) => point.kind === 'checkpoint'), [points])
  return (
    <section
      aria-label="Status"
      className="flex h-7 shrink-0 items-center gap-4 border-t border-line bg-panel px-4 text-small text-ink-2"
    >
      {attempt ? (
        <span className="flex shrink-0 items-center gap-1.5">
          <Spinner />
          verifying, attempt {attempt.attempt} of {attempt.of}
        </span>
      ) : null}
      {running ? <Running command={running} /> : null}
      {points && !running && !attempt ? <span className="shrink-0">nothing running</span> : null}
      <span className="flex-1" />
      {last ? (
        <span className="shrink-0" title="What taking the last point cost">
          last point {took(last.ms)}
          {last.bytes === null ? '' : `, ${size(last.bytes)}`}
        </span>
      ) : null}
      <HostState />
    </section>
  )
}

function Running({ command }: { command: CommandRecord }) {
  const { selection } = useHost()
  return (
    <button
      type="button"
      onClick={() => selection.tab('output')}
      className="flex min-w-0 items-center gap-1.5 rounded px-1 hover:text-ink"
    >
      <Spinner />
      <span className="shrink-0">running</span>
      <Name mono>{shown(command.command)}</Name>
      <span className="shrink-0">{useRunningFor(command.startedAt)}</span>
    </button>
  )
}

const words = { connecting: 'connecting', open: 'host ok', lost: 'host away', refused: 'not signed in' } as const

function HostState() {
  const state = useConnection((connection) => connection.state)
  const info = useConnection((connection) => connection.info)
  return (
    <span
      className="flex shrink-0 items-center gap-1.5"
      title={info ? `Version ${info.version}, process ${info.pid}\n${info.home}` : undefined}
    >
      <span aria-hidden="true" className={`size-1.5 rounded-full ${state === 'open' ? 'bg-ok' : 'bg-warn'}`} />
      {words[state]}
    </span>
  )
}
