/**
 * Turns of an agent that runs whole inside the sandbox: nobody tells when one ends, so that files which are quiet again
 * after activity are taken for it, and its own end too. Each gets an automatic checkpoint.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type CommandRecord, SessionHaltedError } from '../contract/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { Commands } from './commands.ts'
import type { SessionContext } from './context.ts'
import type { Rules } from './rules.ts'

/** What the command of an agent is called in its record, so that a later host goes on watching it. */
export const AGENT = 'agent'

/** Files that were not touched for so long are quiet. */
const QUIET_MS = 2_000
const LOOK_MS = 500
/** A look costs as much as was changed: it may take this part of the time. */
const LOOK_SHARE = 0.05

export class Turns {
  readonly #context: SessionContext
  readonly #commands: Commands
  readonly #rules: Rules
  readonly #stopped = new AbortController()
  readonly #watched = new Set<string>()

  constructor(context: SessionContext, commands: Commands, rules: Rules) {
    this.#context = context
    this.#commands = commands
    this.#rules = rules
  }

  /** Watches an agent until it ends. Where its points cannot be taken any more, the session's notes say so. */
  watch(agent: CommandRecord): void {
    if (this.#watched.has(agent.id)) return
    this.#watched.add(agent.id)
    this.#watch(agent).catch((error: unknown) => {
      if (this.#stopped.signal.aborted) return
      const context = this.#context
      context.transaction(() => {
        const note = `Points of the turns of ${programOf(agent)} are no longer taken: ${error instanceof Error ? error.message : String(error)}`
        context.updateRow({ notes: [...context.row.notes, note] })
        context.raiseSummary()
      })
    })
  }

  /**
   * An agent's own hook tells of a turn: no need to wait until its files are quiet.
   * @returns the label of its point; null where no file changed since the last one
   */
  async mark(agent: string): Promise<string | null> {
    const sandbox = await this.#context.workable()
    return (await sandbox.lastChange()) === null ? null : this.#rules.takeAutomatic('turn', agent)
  }

  /** The host lets go of the session: its next one watches. */
  stop(): void {
    this.#stopped.abort()
  }

  async #watch(agent: CommandRecord): Promise<void> {
    const sandbox = await this.#context.live()
    const over = new AbortController()
    const ended = this.#commands.ended(agent.id).finally(() => over.abort())
    // Its failure is met below, or by nobody where the host lets go first.
    ended.catch(() => {})
    const signal = AbortSignal.any([over.signal, this.#stopped.signal])
    for (let pauseMs = LOOK_MS; !signal.aborted; ) {
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {})
      if (signal.aborted) break
      const began = performance.now()
      const quiet = await this.#isQuiet(sandbox)
      pauseMs = Math.max(LOOK_MS, (performance.now() - began) / LOOK_SHARE)
      if (quiet) await this.#take(agent)
    }
    if (this.#stopped.signal.aborted) return
    const { status } = await ended
    if (status === 'exited' && (await sandbox.lastChange()) !== null) await this.#take(agent)
  }

  async #isQuiet(sandbox: Sandbox): Promise<boolean> {
    const changed = await sandbox.lastChange()
    return changed !== null && Date.now() - changed >= QUIET_MS
  }

  async #take(agent: CommandRecord): Promise<void> {
    try {
      await this.#rules.takeAutomatic('turn', programOf(agent))
    } catch (error) {
      // It waits for a decision: what is done meanwhile is not to become a point.
      if (!(error instanceof SessionHaltedError)) throw error
    }
  }
}

/** The agent's name: that of its program. */
export function programOf({ command }: Pick<CommandRecord, 'command'>): string {
  const [program = ''] = typeof command === 'string' ? command.trim().split(/\s+/) : command
  return program.split('/').at(-1) || 'program'
}
