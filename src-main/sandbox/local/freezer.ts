/** Holds everything in a sandbox still for a moment: by its control groups, else by stopping each process. */
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineUnavailableError } from '../../contract/index.ts'
import type { ControlGroups } from './cgroup.ts'
import { type HostProcess, readProcess, signal } from './processes.ts'

const STOP_LIMIT_MS = 2_000
/** Longer than a sleep of that kind lasts while nothing is stopped. */
const VFORK_MS = 10

export class Freezer {
  /** Frozen until further notice, with what was stopped for it by signals: `everything` where another host did that. */
  #held: ReadonlyMap<number, string> | 'everything' | null = null
  readonly #groups: ControlGroups | null
  readonly #find: () => readonly HostProcess[]

  /** @param find everything that runs inside, launchers and supervisors too */
  constructor(groups: ControlGroups | null, find: () => readonly HostProcess[]) {
    this.#groups = groups
    this.#find = find
  }

  /** @throws EngineUnavailableError where something would not stand still; it goes on then */
  async whileFrozen<T>(act: () => Promise<T>): Promise<T> {
    if (this.#held !== null) return act()
    if (this.#groups !== null) {
      try {
        if (await this.#groups.freeze()) return await act()
        throw notStill()
      } finally {
        this.#groups.thaw()
      }
    }
    const stopped = new Map<number, string>()
    try {
      await this.#stopAll(stopped)
      return await act()
    } finally {
      goOn(stopped)
    }
  }

  /**
   * Until {@link release}.
   * @param before whether an earlier host held it: what is stopped was stopped by that
   * @throws EngineUnavailableError where something would not stand still; it goes on then
   */
  async hold(before = false): Promise<void> {
    if (this.#held !== null) return
    const stopped = new Map<number, string>()
    try {
      if (this.#groups === null) await this.#stopAll(stopped)
      else if (!(await this.#groups.freeze())) throw notStill()
    } catch (error) {
      this.#groups?.thaw()
      goOn(stopped)
      throw error
    }
    this.#held = before ? 'everything' : stopped
  }

  release(): void {
    const stopped = this.#held
    this.#held = null
    if (stopped === null || stopped === 'everything') this.thaw()
    else {
      this.#groups?.thaw()
      goOn(stopped)
    }
  }

  /** Whatever an earlier host left frozen goes on. */
  thaw(): void {
    this.#groups?.thaw()
    if (this.#groups === null) for (const { pid, state } of this.#find()) if (state === 'T') signal(pid, 'SIGCONT')
  }

  /** Until a look finds nothing new and nothing that still runs. What was stopped before is none of ours. */
  async #stopAll(stopped: Map<number, string>): Promise<void> {
    const begun = Date.now()
    for (;;) {
      const all = this.#find()
      const waited = Date.now() - begun
      const moving = all.filter((one) => !isStopped(one) && !(waited > VFORK_MS && waitsForStoppedChild(one, all)))
      if (moving.length === 0) return
      if (waited > STOP_LIMIT_MS) throw notStill()
      for (const { pid, startTime } of moving) {
        stopped.set(pid, startTime)
        signal(pid, 'SIGSTOP')
      }
      await sleep(1)
    }
  }
}

function goOn(stopped: ReadonlyMap<number, string>): void {
  for (const [pid, startTime] of stopped) if (readProcess(pid)?.startTime === startTime) signal(pid, 'SIGCONT')
}

const isStopped = ({ state }: HostProcess): boolean => state === 'T' || state === 't'

/** A parent in the middle of vfork(2) cannot be stopped: it sleeps (D) until its child, stopped now, goes on. */
const waitsForStoppedChild = ({ pid, state }: HostProcess, all: readonly HostProcess[]): boolean =>
  state === 'D' && all.some((child) => child.parent === pid && isStopped(child))

const notStill = (): EngineUnavailableError =>
  new EngineUnavailableError('The processes of the sandbox could not be held still for a checkpoint.', {
    nextStep: 'Try again, or end what is busy with input and output in the sandbox.',
  })
