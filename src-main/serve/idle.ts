/** When a headless host has nothing left to do: no client, nothing under way, no live process, for long enough. */
import { InvalidOptionError } from '../contract/errors.ts'

/** Minutes, unless REWIND_IDLE_MINUTES says others. */
const IDLE_MINUTES = 15

/** @throws InvalidOptionError for what is not a number of minutes above 0 */
export function idleMinutes(given: string | undefined): number {
  if (given === undefined || given === '') return IDLE_MINUTES
  const minutes = Number(given)
  if (minutes > 0 && Number.isFinite(minutes)) return minutes
  throw new InvalidOptionError(`REWIND_IDLE_MINUTES is '${given}', which is not a number of minutes above 0.`)
}

export interface IdleWatch {
  /** Milliseconds of quiet after which it is over. */
  idleMs: number
  isQuiet(): Promise<boolean>
  /** When the last client went: one that came and went between two looks counts too. */
  lastClientAt(): number
  onIdle(): void
}

/** Looks a few times per span, as quiet has to last: work that came and went in between begins the span anew. */
export function watchIdle({ idleMs, isQuiet, lastClientAt, onIdle }: IdleWatch): { stop(): void } {
  let quietSince: number | null = null
  let stopped = false
  const everyMs = Math.max(20, Math.min(idleMs / 4, 30_000))
  const look = async () => {
    // Where it cannot be known whether something lives, the host stays.
    const quiet = await isQuiet().catch(() => false)
    if (stopped) return
    const now = Date.now()
    quietSince = quiet ? Math.max(quietSince ?? now, lastClientAt()) : null
    if (quietSince !== null && now - quietSince >= idleMs) onIdle()
    else timer = schedule()
  }
  const schedule = () => setTimeout(() => void look(), everyMs).unref()
  let timer = schedule()
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
