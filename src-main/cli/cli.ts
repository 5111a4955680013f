/** What every command has at hand: the global options, the output, a host to ask, and the session that is meant. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { InvalidOptionError, SandboxNotFoundError, SessionRewoundError } from '../contract/errors.ts'
import type { Missed, SessionSummary } from '../contract/index.ts'
import { noticeOf } from '../contract/notice.ts'
import { visibleName } from '../contract/text.ts'
import { isLive } from '../contract/timeline.ts'
import { connectHost, type HostClient, type Rpc, version } from '../serve/client/index.ts'
import { dataFolder } from '../serve/home.ts'
import { whoAsks } from './asker.ts'
import type { Output } from './output.ts'
import { canAsk } from './prompt.ts'

export const DEFAULT_SESSION = 'rewind_sandbox'

export class Cli {
  readonly out: Output
  /** Whether the command line itself names a session. */
  readonly isNamed: boolean
  readonly #chosen: string | undefined
  #client: HostClient | undefined
  /** Set by commands whose answer is an exit code and not an error. */
  exitCode = 0
  /** What is to be done before we leave because nobody reads us any more; failures of it change nothing. */
  onReaderGone: (() => Promise<void>) | undefined

  /** @param chosen the session named on the command line */
  constructor(out: Output, chosen: string | undefined) {
    this.out = out
    this.isNamed = Boolean(chosen)
    this.#chosen = chosen || process.env.REWIND_SESSION || undefined
  }

  /** The host's procedures; a headless host is started where none runs. */
  async rpc(): Promise<Rpc> {
    this.#client ??= await connectHost({ home: dataFolder(), start: true, version })
    return this.#client.rpc
  }

  /** The session that was named on the command line or in the environment. */
  get chosen(): string | undefined {
    return this.#chosen
  }

  /** The name that a new session is to have. */
  get newName(): string {
    return this.#chosen ?? DEFAULT_SESSION
  }

  /**
   * The session that is meant: the one named, else the only live one of the current folder's workspace, else the
   * default name.
   * @throws InvalidOptionError that lists them when the folder has several, SandboxNotFoundError that lists those of
   *   other folders when it has none
   */
  async session(): Promise<string> {
    if (this.#chosen !== undefined) return this.#chosen
    const all = await (await this.rpc()).sessions.list()
    const folder = currentFolder()
    const here = candidates(all, folder)
    if (here.length > 1)
      throw new InvalidOptionError(
        `Several sessions are live here: ${here.map((session) => session.name).join(', ')}.`,
        { nextStep: 'Say which one with --session NAME.', data: { sessions: here.map((session) => session.name) } },
      )
    if (here[0]) return here[0].id
    if (!all.some(({ name }) => name === DEFAULT_SESSION)) throw noneHere(all.filter(isLive), folder)
    return DEFAULT_SESSION
  }

  /**
   * The host and the session together: what nearly every command begins with. A rewind that this terminal has not heard
   * of is told first.
   * @param acts whether the command changes the session: where nobody is there to read the notice (a script, an agent's
   *   shell) it is then not carried out
   * @throws SessionRewoundError
   */
  async begin(acts: 'acts' | 'looks' = 'looks'): Promise<{ rpc: Rpc; session: string }> {
    const session = await this.session()
    const rpc = await this.rpc()
    const missed = await this.tellOfRewinds(session)
    if (missed && acts === 'acts' && !canAsk())
      throw new SessionRewoundError('The session was rewound since your last command; this one was not carried out.', {
        nextStep: 'Look at what changed; then run it again if it still makes sense.',
        data: { rewinds: missed.rewinds.map(({ by, name, at }) => ({ by, to: name, at: at.toISOString() })) },
      })
    return { rpc, session }
  }

  /** @returns what this terminal had not heard of; it is on stderr then */
  async tellOfRewinds(session: string): Promise<Missed | null> {
    const missed = await (await this.rpc()).timeline.unheard({ session, client: whoAsks() })
    if (missed) this.out.problem(noticeOf(missed, '`rewind messages`'))
    return missed
  }

  /** A rewind that this command itself has brought about is no news. */
  async heard(session: string): Promise<void> {
    await (await this.rpc()).timeline.unheard({ session, client: whoAsks() })
  }

  close(): void {
    this.#client?.close()
  }
}

/** Live sessions whose workspace holds the folder; of workspaces within each other the innermost counts. */
export function candidates(sessions: readonly SessionSummary[], folder: string): SessionSummary[] {
  const around = sessions.filter(
    ({ status, workspace }) =>
      isLive({ status }) && (folder === workspace || folder.startsWith(workspace === sep ? sep : workspace + sep)),
  )
  const innermost = Math.max(...around.map(({ workspace }) => workspace.length))
  return around.filter(({ workspace }) => workspace.length === innermost)
}

function noneHere(live: readonly SessionSummary[], folder: string): SandboxNotFoundError {
  const listed = live.map(({ name, workspace }) => `${visibleName(name)} (${visibleName(workspace)})`)
  return new SandboxNotFoundError(
    `No live session has ${visibleName(folder || 'this folder')} in its workspace, and none is called ${DEFAULT_SESSION}.`,
    {
      nextStep:
        listed.length > 0
          ? `Live elsewhere: ${listed.join(', ')}. Say which one with --session NAME, or begin one here with \`rewind init .\`.`
          : 'Begin one with `rewind init PATH`.',
      data: { folder, live: live.map(({ name, workspace }) => ({ name, workspace })) },
    },
  )
}

function currentFolder(): string {
  try {
    return realpathSync(process.cwd())
  } catch {
    // It was removed under us: no session is chosen by it.
    return ''
  }
}
