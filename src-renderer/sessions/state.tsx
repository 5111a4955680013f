/** A session's state as a dot and a word: shape and word as well as colour. */
import type { SessionStatus, SessionSummary } from '../../src-main/contract/index.ts'

export const stateWord = ({ status, pendingEscalations }: SessionSummary): string =>
  pendingEscalations > 0 ? 'needs you' : words[status]

const words: Record<SessionStatus, string> = {
  starting: 'starting',
  running: 'live',
  paused: 'paused',
  halted: 'halted',
  ended: 'ended',
  destroyed: 'destroyed',
  unreachable: 'unreachable',
}

const shapes: Record<SessionStatus, string> = {
  starting: 'rounded-full border-2 border-ok',
  running: 'rounded-full bg-ok',
  paused: 'rounded-[1px] bg-ink-3',
  halted: 'rounded-[1px] bg-bad',
  ended: 'rounded-full border border-lane',
  destroyed: 'rounded-full border border-dashed border-lane',
  unreachable: 'rounded-full border-2 border-warn',
}

export function StateDot({ session }: { session: SessionSummary }) {
  const shape = session.pendingEscalations > 0 ? 'rotate-45 rounded-[1px] bg-warn' : shapes[session.status]
  return <span aria-hidden="true" className={`inline-block size-2 shrink-0 ${shape}`} />
}
