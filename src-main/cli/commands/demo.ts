/** `rewind demo`: the demo's story, told in the terminal while it happens. */
import { ConnectionLostError, InternalError, SessionNotStartedError } from '../../contract/errors.ts'
import type { Message, Point, SessionEvent, SessionSummary } from '../../contract/index.ts'
import { visible, visibleName } from '../../contract/text.ts'
import { isLive } from '../../contract/timeline.ts'
import { isConnectionLoss, pairOf, type Rpc } from '../../serve/client/index.ts'
import type { Cli } from '../cli.ts'
import { type Define, FailureWithData } from '../command.ts'
import { type EngineOptions, engineOption, withImage } from '../engine-options.ts'
import { ledgerTable } from './ledger.ts'
import { describeMessage } from './messages.ts'

export const defineDemo: Define = (program, action) => {
  program
    .command('demo')
    .description("watch an agent's bad day being undone, on a scratch copy of a small project")
    .addOption(engineOption())
    .action(
      action<Pick<EngineOptions, 'engine'>>(async (cli, _, { engine }) => {
        const rpc = await cli.rpc()
        await withImage(cli, rpc, { engine })
        const stop = new AbortController()
        // Asked for before the demo begins, so that its first event is not missed. It is not taken up by a later host:
        // the demo is played by the one that began it, and goes with it.
        const events = await rpc.events({ since: null }, { signal: stop.signal, context: { retry: 0 } })
        const demo = await rpc.sessions.demo({ engine })
        const teller = new Teller(cli, rpc, demo)
        try {
          for await (const event of events) if (event.session === demo.id && (await teller.tell(event))) break
        } catch (error) {
          throw isConnectionLoss(error) ? hostGone(demo) : error
        } finally {
          stop.abort()
        }
        await teller.conclude()
      }),
    )
}

const hostGone = ({ name }: SessionSummary) =>
  new ConnectionLostError('The host went away in the middle of the demo, and no other one goes on with it.', {
    nextStep: `\`rewind demo\` begins anew; \`rewind destroy --session ${name}\` removes what is left of this one.`,
  })

/** Exit code 4, as for a lost host: nothing is wrong with the command, what it watched is gone. */
const endedEarly = ({ name, status }: SessionSummary) =>
  new FailureWithData(
    new SessionNotStartedError(`Session ${name} was ${status} before the demo was over.`, {
      nextStep: '`rewind demo` begins anew.',
    }),
    undefined,
    4,
  )

/** Follows one demo and tells what it sees; it knows nothing of the plot but what the events say. */
class Teller {
  readonly #cli: Cli
  readonly #rpc: Rpc
  readonly #demo: SessionSummary

  constructor(cli: Cli, rpc: Rpc, demo: SessionSummary) {
    this.#cli = cli
    this.#rpc = rpc
    this.#demo = demo
    this.#cli.out.line(`Session ${demo.name} in ${visibleName(demo.workspace)} (${demo.engine}: ${demo.engineDetail})`)
  }

  /**
   * @returns true once the story is over
   * @throws when it can no longer come to its end
   */
  async tell(event: SessionEvent): Promise<boolean> {
    switch (event.type) {
      case 'demoStep':
        this.#line(`\n${event.step}/${event.of}  ${visibleName(event.text)}`)
        return event.step === event.of
      case 'pointAdded':
        if (event.point.kind === 'checkpoint') this.#line(`     ● checkpoint ${describePoint(event.point)}`)
        return false
      case 'verifierAttempt':
        if (event.verdict) this.#verdict(event.verdict)
        return false
      case 'sessionChanged':
        if (!isLive(event.summary)) throw endedEarly(event.summary)
        return false
      case 'rewound':
        await this.#showUndone(event.head, event.from)
        return false
      default:
        return false
    }
  }

  /** The record, and what to try next. */
  async conclude(): Promise<void> {
    const session = this.#demo.id
    const [entries, timeline, { messages }] = await Promise.all([
      this.#rpc.ledger.list({ session }),
      this.#rpc.timeline.get({ session }),
      this.#rpc.messages.get({ session }),
    ])
    this.#line(`\nThe ledger, which no rollback touches:\n${ledgerTable(entries)}`)
    const name = this.#demo.name
    this.#line(
      `\nTry next:\n  rewind checkpoint ls --all --branches --session ${name}\n  rewind undo --session ${name}          # the broken file comes back\n  rewind rewind --to stable --session ${name}\n  rewind open                            # the same session in the window\n  rewind destroy --session ${name}`,
    )
    const rolledBack = entries.some(({ eventType, status }) => eventType === 'rollback' && status !== 'skipped_noop')
    const data = {
      session: name,
      id: session,
      workspace: this.#demo.workspace,
      head: timeline.head,
      rolledBack,
      entries,
      messages,
    }
    if (!rolledBack)
      throw new InternalError('The demo ended without the rollback that it is about.', { data: { session } })
    this.#cli.out.result(data, '')
  }

  #line(text: string): void {
    this.#cli.out.line(text)
  }

  #verdict({ status, text }: { status: string; text: string }): void {
    this.#line(`     verifier: ${status.toUpperCase()}  ${visible(text).replaceAll('\n', '\n       ')}`)
  }

  /** What a rollback took away, read from the point that keeps it: there it stands still, however late we look. */
  async #showUndone(head: string, left: string): Promise<void> {
    const session = this.#demo.id
    const { unifiedPatch } = await import('../../diff/index.ts')
    const { changes } = await this.#rpc.files.changes({ session, from: head, to: left })
    this.#line('     what was undone:')
    for (const change of changes) {
      const patch = unifiedPatch(change, await pairOf(this.#rpc, { session, from: head, to: left }, change))
      this.#line(visible(patch).trimEnd().replaceAll(/^/gm, '       '))
    }
    const before = await this.#rpc.messages.get({ session, at: left })
    const after = await this.#rpc.messages.get({ session })
    this.#showMessages('the conversation before', before.messages, before.cue)
    this.#line(`     ↩ back at ${head}: the files are as they were there`)
    this.#showMessages('the conversation after', after.messages, after.cue)
  }

  #showMessages(title: string, messages: readonly Message[], cue: number | null): void {
    this.#line(`     ${title}:`)
    for (const [at, message] of messages.entries())
      this.#line(`       ${at === cue ? '*' : ' '} ${shorten(describeMessage(message))}`)
  }
}

const describePoint = ({ id, label, takenBy, why, tool }: Point): string =>
  [label === null || label === id ? id : `${id} (${visibleName(label)})`, takenBy, visibleName(why ?? tool ?? '')]
    .filter((part) => part !== '')
    .join(', ')

const shorten = (text: string): string => (text.length <= 140 ? text : `${text.slice(0, 139)}…`)
