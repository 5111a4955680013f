/**
 * The contract, answered: each procedure is one call of the session API or of the host's controls. There is no logic
 * here, so that message port, browser and local socket cannot differ in what they do.
 */
import { implement, withEventMeta } from '@orpc/server'
import { type Check, contract, type HostInfo, toRpcError } from '../contract/index.ts'
import type { SessionManager } from '../session/index.ts'
import type { FolderRequests } from './folder-requests.ts'
import type { Scope } from './scopes.ts'
import { assertSendable } from './sendable.ts'
import type { WantedPlace } from './wanted-place.ts'

/** What the host itself can be asked; the rest is the sessions' matter. */
export interface HostControls {
  info(): HostInfo
  doctor(): Promise<Check[]>
  browserUrl(): { url: string }
  /** Resolves when the host has begun to go. @throws HostBusyError */
  handOver(force: boolean): Promise<void>
  /** Folders that are open to agents. */
  allowed(): { folders: string[] }
  allow(path: string, on: boolean): { folders: string[] }
  /** Folders that agents ask for. */
  requests: FolderRequests
  /** What somebody wants to see in the window. */
  wanted: WantedPlace
  mcp(renew: boolean): { url: string | null; token: string }
}

/** One connection, as the procedures see it. */
export interface Connection {
  /** What it may do, and on which sessions. */
  readonly scope: Scope
  /** What is done when it ends, by a key of whoever asked for it. */
  readonly whenGone: Map<string, () => void>
  /** Resolves when the client has taken most of what it was sent; streams wait for it before each event. */
  drained(signal?: AbortSignal): Promise<void>
}

/** What a procedure about a session is given. */
interface Call {
  context: Connection
  input: { session: string }
}

export function createRouter(sessions: SessionManager, host: HostControls) {
  const os = implement(contract)
    .$context<Connection>()
    .use(async ({ next, path, context }) => {
      try {
        context.scope.admit(path.join('.'))
        const answer = await next()
        assertSendable(answer.output)
        return answer
      } catch (error) {
        throw toRpcError(error)
      }
    })
  const of = ({ context, input }: Call) => context.scope.find(input.session)
  const asked = ({ context, input }: { context: Connection; input: { id: string } }) =>
    sessions.escalated(input.id, context.scope.mayUse).escalations

  return os.router({
    host: {
      info: os.host.info.handler(() => host.info()),
      doctor: os.host.doctor.handler(() => host.doctor()),
      browserUrl: os.host.browserUrl.handler(() => host.browserUrl()),
      show: os.host.show.handler((call) => {
        const session = of(call)
        return host.wanted.want(session.id, session.momentOf(call.input.at))
      }),
      places: os.host.places.handler(({ input, signal }) => host.wanted.follow(input.after, signal)),
      allowed: os.host.allowed.handler(() => host.allowed()),
      allow: os.host.allow.handler(({ input }) => host.allow(input.path, input.on)),
      folderRequests: os.host.folderRequests.handler(async function* ({ signal, context }) {
        for await (const waiting of host.requests.follow(signal)) {
          yield waiting
          await context.drained(signal)
        }
      }),
      answerFolder: os.host.answerFolder.handler(({ input }) => {
        host.requests.answer(input.id, input.allow)
        return { ok: true }
      }),
      mcp: os.host.mcp.handler(({ input }) => host.mcp(input.renew)),
      handOver: os.host.handOver.handler(async ({ input }) => {
        await host.handOver(input.force)
        return { ok: true }
      }),
    },
    sessions: {
      list: os.sessions.list.handler(({ context }) => context.scope.list()),
      get: os.sessions.get.handler((call) => of(call).details()),
      create: os.sessions.create.handler(({ context, input, signal }) => context.scope.create(input, signal)),
      end: os.sessions.end.handler((call) => of(call).end()),
      destroy: os.sessions.destroy.handler(({ context, input }) =>
        context.scope.findToEnd(input.session).destroy(input),
      ),
      resume: os.sessions.resume.handler((call) => of(call).resume(call.input)),
      pause: os.sessions.pause.handler((call) => of(call).pause()),
      unpause: os.sessions.unpause.handler((call) => of(call).unpause()),
      share: os.sessions.share.handler((call) => of(call).share(call.input.on)),
      demo: os.sessions.demo.handler(({ input }) => sessions.demo(input?.engine)),
    },
    engines: {
      offer: os.engines.offer.handler(() => sessions.engines()),
      making: os.engines.making.handler(({ input }) => sessions.making(input.name)),
      image: os.engines.image.handler(async function* ({ input, signal, context }) {
        try {
          for await (const progress of sessions.image(input.name, signal)) {
            yield progress
            await context.drained(signal)
          }
        } catch (error) {
          // A stream fails after its call was answered, where the middleware no longer sees it.
          throw toRpcError(error)
        }
      }),
    },
    timeline: {
      get: os.timeline.get.handler((call) => of(call).timeline()),
      checkpoint: os.timeline.checkpoint.handler((call) =>
        of(call).checkpoint({
          ...call.input,
          takenBy: call.context.scope.name === 'agent' ? 'agent' : call.input.takenBy,
        }),
      ),
      preview: os.timeline.preview.handler((call) => of(call).preview(call.input)),
      rollback: os.timeline.rollback.handler(({ context, input }) =>
        context.scope.findToDecide(input.session).rollback(input, context.scope.name === 'agent' ? 'agent' : 'you'),
      ),
      missed: os.timeline.missed.handler((call) => of(call).missed(call.input)),
      unheard: os.timeline.unheard.handler((call) => of(call).unheard(call.input)),
      undo: os.timeline.undo.handler((call) => of(call).undo(call.input)),
      pin: os.timeline.pin.handler((call) => of(call).pin(call.input)),
      prune: os.timeline.prune.handler((call) => of(call).prune(call.input)),
      gc: os.timeline.gc.handler((call) => of(call).gc()),
    },
    files: {
      write: os.files.write.handler((call) => of(call).write(call.input)),
      read: os.files.read.handler((call) => of(call).read(call.input)),
      changes: os.files.changes.handler((call) => of(call).changes(call.input)),
      renames: os.files.renames.handler((call) => of(call).renames(call.input)),
      lines: os.files.lines.handler((call) => of(call).lines(call.input)),
      pair: os.files.pair.handler((call) => of(call).pair(call.input)),
      bytes: os.files.bytes.handler((call) => of(call).bytes(call.input)),
      database: os.files.database.handler((call) => of(call).database(call.input, call.signal)),
    },
    messages: {
      get: os.messages.get.handler((call) => of(call).conversation(call.input)),
      list: os.messages.list.handler((call) => of(call).conversations(call.input)),
      validity: os.messages.validity.handler((call) => of(call).validity(call.input)),
      sync: os.messages.sync.handler((call) => of(call).sync(call.input)),
    },
    commands: {
      start: os.commands.start.handler((call) => {
        call.context.scope.admitUser(call.input.user)
        return of(call).startCommand(call.input)
      }),
      wait: os.commands.wait.handler((call) => of(call).waitCommand(call.input)),
      stop: os.commands.stop.handler((call) => of(call).stopCommand(call.input)),
      get: os.commands.get.handler((call) => of(call).command(call.input)),
      list: os.commands.list.handler((call) => of(call).commands()),
      output: os.commands.output.handler((call) => of(call).output(call.input)),
      follow: os.commands.follow.handler(async function* (call) {
        const { input, lastEventId, signal, context } = call
        // A client that lost its connection goes on after the last part it saw.
        const offset = lastEventId === undefined ? input.offset : Number(lastEventId)
        try {
          for await (const part of of(call).followOutput({ ...input, offset }, signal)) {
            yield withEventMeta(part, { id: String(part.next) })
            await context.drained(signal)
          }
        } catch (error) {
          // A stream fails after its call was answered, where the middleware no longer sees it.
          throw toRpcError(error)
        }
      }),
      type: os.commands.type.handler((call) => of(call).type(call.input)),
      resize: os.commands.resize.handler((call) => of(call).resize(call.input)),
    },
    processes: {
      list: os.processes.list.handler((call) => of(call).activity()),
      stop: os.processes.stop.handler((call) => of(call).stopProcess(call.input)),
    },
    ports: {
      list: os.ports.list.handler((call) => of(call).openedPorts()),
      open: os.ports.open.handler((call) => of(call).openPort(call.input)),
      close: os.ports.close.handler((call) => of(call).closePort(call.input)),
    },
    tools: {
      list: os.tools.list.handler((call) => of(call).tools.list()),
      begin: os.tools.begin.handler(({ context, input }) => {
        const { tools } = context.scope.find(input.session)
        // Whoever makes the call goes, and cannot say any more how it ended.
        context.whenGone.set(input.id, () => tools.end(input.id, 'lost', null))
        return tools.begin(input)
      }),
      end: os.tools.end.handler(({ context, input }) => {
        context.whenGone.delete(input.id)
        return context.scope.find(input.session).tools.end(input.id, input.status, input.result)
      }),
    },
    rules: {
      get: os.rules.get.handler((call) => of(call).rules()),
      autoCheckpoint: os.rules.autoCheckpoint.handler((call) => of(call).autoCheckpoint(call.input)),
      autoRollback: os.rules.autoRollback.handler((call) => of(call).autoRollback(call.input)),
      tryVerifier: os.rules.tryVerifier.handler((call) => of(call).tryVerifier(call.input, call.signal)),
      retention: os.rules.retention.handler((call) => of(call).setRetention(call.input)),
      lastAutoRollback: os.rules.lastAutoRollback.handler((call) => of(call).lastAutoRollback()),
      onToolCall: os.rules.onToolCall.handler((call) => of(call).onToolCall(call.input)),
      onToolResult: os.rules.onToolResult.handler((call) => of(call).onToolResult(call.input)),
      onTurn: os.rules.onTurn.handler((call) => of(call).onTurn(call.input)),
      runTests: os.rules.runTests.handler((call) => of(call).runTests(call.input)),
    },
    escalations: {
      list: os.escalations.list.handler(({ context, input }) => sessions.escalations(input, context.scope.mayUse)),
      get: os.escalations.get.handler((call) => asked(call).get(call.input.id)),
      wait: os.escalations.wait.handler((call) => asked(call).wait(call.input.id, call.signal)),
      answer: os.escalations.answer.handler((call) => {
        call.context.scope.admitDecision(call.input.handler ? 'handler' : call.input.via)
        return asked(call).answer(call.input)
      }),
      watch: os.escalations.watch.handler(async function* ({ context, input, signal }) {
        try {
          context.scope.admitDecision(input.as)
          for await (const waiting of sessions.watchEscalations(input, signal, context.scope.mayUse)) {
            yield waiting
            await context.drained(signal)
          }
        } catch (error) {
          throw toRpcError(error)
        }
      }),
    },
    commit: {
      preview: os.commit.preview.handler((call) => of(call).commits.preview(call.input)),
      hunks: os.commit.hunks.handler((call) => of(call).commits.hunks(call.input)),
      apply: os.commit.apply.handler((call) => of(call).commits.apply(call.input, 'you')),
      undo: os.commit.undo.handler((call) => of(call).commits.undo(call.input, 'you')),
      list: os.commit.list.handler((call) => of(call).commits.list()),
      patch: os.commit.patch.handler(async function* (call) {
        try {
          for await (const part of of(call).elsewhere.patch(call.input)) {
            yield part
            await call.context.drained(call.signal)
          }
        } catch (error) {
          throw toRpcError(error)
        }
      }),
      branch: os.commit.branch.handler((call) => of(call).elsewhere.branch(call.input)),
    },
    ledger: {
      list: os.ledger.list.handler((call) => of(call).ledger(call.input)),
      verify: os.ledger.verify.handler((call) => of(call).verifyLedger()),
      export: os.ledger.export.handler(async function* ({ input, context, signal }) {
        try {
          for (const text of context.scope.find(input.session).exportLedger(input)) {
            yield text
            await context.drained(signal)
          }
        } catch (error) {
          throw toRpcError(error)
        }
      }),
      report: os.ledger.report.handler(async function* ({ input, context, signal }) {
        try {
          for await (const text of context.scope.find(input.session).report()) {
            yield text
            await context.drained(signal)
          }
        } catch (error) {
          throw toRpcError(error)
        }
      }),
    },
    events: os.events.handler(async function* ({ input, lastEventId, signal, context }) {
      // A client that lost its connection asks from the last event it saw; what it asked first is older.
      const since = lastEventId === undefined ? input.since : Number(lastEventId)
      try {
        for await (const event of sessions.events(since, signal, input.follow)) {
          yield withEventMeta(event, { id: String(event.id) })
          await context.drained(signal)
        }
      } catch (error) {
        // A stream fails after its call was answered, where the middleware no longer sees it.
        throw toRpcError(error)
      }
    }),
  })
}

export type Router = ReturnType<typeof createRouter>
