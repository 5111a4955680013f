/**
 * What a connection may do. A person's may do everything. An agent's may use the procedures that its tools are made of,
 * on sessions that agents began or a person opened to it, and begin sessions below folders that a person allowed. It is
 * decided here, in the host: whatever a client asks, on whichever door, it asks through one of these.
 */
import { homedir } from 'node:os'
import {
  type AnsweredVia,
  type AskerKind,
  DeclinedError,
  InvalidPathError,
  type ScopeName,
  SessionHaltedError,
  type SessionOptions,
  SessionPausedError,
  type SessionSummary,
  shellWord,
} from '../contract/index.ts'
import type { Created, MayUse, Session, SessionManager } from '../session/index.ts'
import { type AllowedFolders, leadsTo } from './allowed-folders.ts'
import type { Grants } from './client/doors.ts'
import type { FolderRequests } from './folder-requests.ts'

export interface Scope {
  readonly name: ScopeName
  /** Which sessions are open to it; the others are as if they were not there. */
  readonly mayUse: MayUse
  /** @throws DeclinedError for a procedure (`timeline.undo`) that is not its to call */
  admit(procedure: string): void
  /** @throws DeclinedError unless it may be asked for decisions in that way, and decide */
  admitDecision(way: AskerKind | AnsweredVia): void
  /** @throws DeclinedError for a user that is not its to run commands as */
  admitUser(user: 'agent' | 'root' | undefined): void
  list(): SessionSummary[]
  /** @throws SandboxNotFoundError, also for a session that exists and is not open to it */
  find(ref: string): Session
  /** @throws SessionHaltedError, SessionPausedError where only a person may decide how it goes on */
  findToDecide(ref: string): Session
  /** @throws DeclinedError for a session that is not its to end */
  findToEnd(ref: string): Session
  /** @param signal aborts when whoever asks for it takes that back */
  create(options: SessionOptions, signal?: AbortSignal): Promise<Created>
}

export interface ScopeParts {
  sessions: SessionManager
  allowed: AllowedFolders
  requests: FolderRequests
}

/** A folder in which a person begins a session is one in which agents may, too. */
export function personScope({ sessions, allowed }: Pick<ScopeParts, 'sessions' | 'allowed'>): Scope {
  const find = (ref: string) => sessions.find(ref)
  return {
    name: 'person',
    mayUse: () => true,
    admit: () => {},
    admitDecision: () => {},
    admitUser: () => {},
    list: () => sessions.list(),
    find,
    findToDecide: find,
    findToEnd: find,
    create: async (options) => {
      const created = await sessions.create(options)
      const { workspace } = created.session
      // The whole machine is a workspace like any other to a person, but not to be handed on.
      if (workspace !== '/') allowed.add(workspace)
      return created
    },
  }
}

/** What the tools of agents are made of. */
const TOOLS_USE = new Set(
  [
    'host.info sessions.list sessions.get sessions.create sessions.destroy',
    'timeline.get timeline.checkpoint timeline.preview timeline.rollback timeline.missed',
    'files.write files.read files.changes files.pair commit.preview commit.list',
    'messages.get messages.list messages.validity messages.sync',
    'commands.start commands.wait commands.stop commands.get commands.list commands.output',
    'rules.get rules.autoCheckpoint rules.autoRollback rules.lastAutoRollback rules.onToolCall rules.onToolResult rules.runTests',
    // Its hook.
    'rules.onTurn',
    'escalations.list escalations.get escalations.wait',
    'ledger.list ledger.verify tools.begin tools.end engines.making',
  ].flatMap((line) => line.split(' ')),
)

/** Beside that, where a person may be asked through the agent's program: each is looked at by `admitDecision` too. */
const ELICITING_USES = new Set(['escalations.watch', 'escalations.answer'])

const notYours = (what: string): DeclinedError =>
  new DeclinedError(`${what} is a person's to call.`, {
    nextStep: 'Ask the person to do it, in the window or on the command line.',
  })

export function agentScope({ sessions, allowed, requests }: ScopeParts, grants: Grants): Scope {
  const mayUse = ({ id, name, begunBy, shared }: Pick<SessionSummary, 'id' | 'name' | 'begunBy' | 'shared'>) =>
    begunBy === 'agent' || shared || grants.sessions.includes(id) || grants.sessions.includes(name)
  const find = (ref: string) => sessions.find(ref, mayUse)
  const undecided = (session: Session) => {
    const { name, status, halted, pendingEscalations } = session.summary()
    if (halted)
      throw new SessionHaltedError(`Session ${name} is halted and waits for a person's decision.`, {
        nextStep: 'Ask the person to look at it in the window and to rewind it to a point that can be trusted.',
      })
    if (status === 'paused')
      throw new SessionPausedError(`Session ${name} is paused by a person, who is looking at it as it is.`, {
        nextStep: 'Ask the person to have it go on; then call again.',
      })
    // A rewind would answer it, or the session's end.
    if (pendingEscalations > 0)
      throw new DeclinedError(`A verdict of session ${name} waits for a person's decision.`, {
        nextStep:
          'get_escalation tells when it is decided; ask the person to, in the window or by `rewind escalations`.',
      })
    return session
  }
  return {
    name: 'agent',
    mayUse,
    admit(procedure) {
      if (!TOOLS_USE.has(procedure) && !(grants.elicit && ELICITING_USES.has(procedure))) throw notYours(procedure)
    },
    admitDecision(way) {
      if (!grants.elicit || way !== 'elicitation') throw notYours('A decision')
    },
    admitUser(user) {
      if (user === 'root')
        throw new DeclinedError("Commands as root are a person's to run.", {
          nextStep: 'Ask the person for it: `rewind exec --user root -- apt-get install -y PACKAGE`.',
        })
    },
    list: () => sessions.list().filter(mayUse),
    find,
    findToDecide: (ref) => undecided(find(ref)),
    findToEnd(ref) {
      const session = undecided(find(ref))
      if (session.summary().begunBy === 'person')
        throw new DeclinedError('A person began this session; it is not an agent’s to end.', {
          nextStep: 'Ask the person: `rewind destroy`, or the window.',
        })
      return session
    },
    async create(options, signal) {
      const { workspace, client = 'An agent' } = options
      const begin = () => sessions.create({ ...options, explicit: false }, { scope: 'agent', mayUse })
      if (allowed.admits(workspace, grants.allow)) return begin()
      // Where it leads is what a person is asked about, and not the way there.
      const folder = leadsTo(workspace)
      const answer = mayBeAsked(folder) ? await requests.ask(folder, client, signal) : 'nobody'
      if (answer === 'refused')
        throw new DeclinedError(`A person refused agents a session in ${workspace}.`, {
          nextStep: 'Work in a folder that is allowed, or ask the person why.',
          data: { path: workspace, allowed: [...allowed.folders, ...grants.allow] },
        })
      if (answer === 'nobody')
        throw new InvalidPathError(`Agents may not begin a session in ${workspace} yet.`, {
          nextStep: `Ask the person to allow it once: \`rewind allow ${shellWord(workspace)}\`, or by opening the folder in the window; then call again.`,
          data: { path: workspace, allowed: [...allowed.folders, ...grants.allow] },
        })
      if (leadsTo(workspace) !== folder)
        throw new InvalidPathError(`${workspace} leads elsewhere now than when it was allowed.`, {
          nextStep: 'Call again: the person is asked about where it leads now.',
        })
      const created = await begin()
      allowed.add(created.session.workspace)
      return created
    },
  }
}

/** Nobody is asked to hand over the whole machine, or a home with all that is in it. */
const mayBeAsked = (folder: string): boolean => folder !== '/' && folder !== leadsTo(homedir())
