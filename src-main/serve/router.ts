/**
 * The contract, answered: each procedure is one call of the session API or of the host's controls. There is no logic
 * here, so that message port, browser and local socket cannot differ in what they do.
 */
import { implement, withEventMeta } from '@orpc/server'
import { type Check, contract, type HostInfo, toRpcError } from '../contract/index.ts'
import type { SessionManager } from '../session/index.ts'
import { assertSendable } from './sendable.ts'

/** What the host itself can be asked; the rest is the sessions' matter. */
export interface HostControls {
  info(): HostInfo
  doctor(): Promise<Check[]>
  browserUrl(): { url: string }
  /** Resolves when the host has begun to go. @throws HostBusyError */
  handOver(force: boolean): Promise<void>
}

/** One connection, as the procedures see it. */
export interface Connection {
  /** Resolves when the client has taken most of what it was sent; streams wait for it before each event. */
  drained(signal?: AbortSignal): Promise<void>
}

export function createRouter(sessions: SessionManager, host: HostControls) {
  const os = implement(contract)
    .$context<Connection>()
    .use(async ({ next }) => {
      try {
        const answer = await next()
        assertSendable(answer.output)
        return answer
      } catch (error) {
        throw toRpcError(error)
      }
    })
  const of = (input: { session: string }) => sessions.find(input.session)

  return os.router({
    host: {
      info: os.host.info.handler(() => host.info()),
      doctor: os.host.doctor.handler(() => host.doctor()),
      browserUrl: os.host.browserUrl.handler(() => host.browserUrl()),
      handOver: os.host.handOver.handler(async ({ input }) => {
        await host.handOver(input.force)
        return { ok: true }
      }),
    },
    sessions: {
      list: os.sessions.list.handler(() => sessions.list()),
      get: os.sessions.get.handler(({ input }) => of(input).details()),
      create: os.sessions.create.handler(({ input }) => sessions.create(input)),
      end: os.sessions.end.handler(({ input }) => of(input).end()),
      destroy: os.sessions.destroy.handler(({ input }) => of(input).destroy()),
      demo: os.sessions.demo.handler(() => sessions.demo()),
    },
    timeline: {
      get: os.timeline.get.handler(({ input }) => of(input).timeline()),
      checkpoint: os.timeline.checkpoint.handler(({ input }) => of(input).checkpoint(input)),
      preview: os.timeline.preview.handler(({ input }) => of(input).preview(input)),
      rollback: os.timeline.rollback.handler(({ input }) => of(input).rollback(input)),
      undo: os.timeline.undo.handler(({ input }) => of(input).undo()),
      pin: os.timeline.pin.handler(({ input }) => of(input).pin(input)),
      prune: os.timeline.prune.handler(({ input }) => of(input).prune(input)),
      gc: os.timeline.gc.handler(({ input }) => of(input).gc()),
    },
    files: {
      write: os.files.write.handler(({ input }) => of(input).write(input)),
      read: os.files.read.handler(({ input }) => of(input).read(input)),
      changes: os.files.changes.handler(({ input }) => of(input).changes(input)),
      pair: os.files.pair.handler(({ input }) => of(input).pair(input)),
    },
    messages: {
      get: os.messages.get.handler(({ input }) => of(input).conversation(input)),
      sync: os.messages.sync.handler(({ input }) => of(input).sync(input)),
    },
    commands: {
      start: os.commands.start.handler(({ input }) => of(input).startCommand(input)),
      wait: os.commands.wait.handler(({ input }) => of(input).waitCommand(input)),
      stop: os.commands.stop.handler(({ input }) => of(input).stopCommand(input)),
      list: os.commands.list.handler(({ input }) => of(input).commands()),
      output: os.commands.output.handler(({ input }) => of(input).output(input)),
    },
    rules: {
      get: os.rules.get.handler(({ input }) => of(input).rules()),
      autoCheckpoint: os.rules.autoCheckpoint.handler(({ input }) => of(input).autoCheckpoint(input)),
      autoRollback: os.rules.autoRollback.handler(({ input }) => of(input).autoRollback(input)),
      lastAutoRollback: os.rules.lastAutoRollback.handler(({ input }) => of(input).lastAutoRollback()),
      onToolCall: os.rules.onToolCall.handler(({ input }) => of(input).onToolCall(input)),
      runTests: os.rules.runTests.handler(({ input }) => of(input).runTests(input)),
    },
    ledger: {
      list: os.ledger.list.handler(({ input }) => of(input).ledger(input)),
      verify: os.ledger.verify.handler(({ input }) => of(input).verifyLedger()),
    },
    events: os.events.handler(async function* ({ input, lastEventId, signal, context }) {
      // A client that lost its connection asks from the last event it saw; what it asked first is older.
      const since = lastEventId === undefined ? input.since : Number(lastEventId)
      try {
        for await (const event of sessions.events(since, signal)) {
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
