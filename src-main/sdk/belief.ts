/**
 * What the caller believes of a session: the number of rewinds that it knows of. Whatever changes the session says that
 * number, so that nothing is done on top of files that are gone: the first call after a rewind by somebody else is
 * refused with what happened, and carried out when it is made again. What only looks is answered, and tells of it once.
 */
import { RewindError, SessionRewoundError, VerificationUnknownError } from '../contract/errors.ts'
import type { Missed } from '../contract/index.ts'
import { noticeOf } from '../contract/notice.ts'
import type { Rpc } from '../serve/client/index.ts'
import type { HostLine } from './host-line.ts'
import type { Notices } from './notices.ts'
import type { AutoRollback, RewindNotice } from './types.ts'

/** For what changes a session. */
export interface Acting {
  session: string
  epoch: number
}

/** A call that changes the session, and one that does not. */
export type ActingWork<T> = (rpc: Rpc, acting: Acting) => Promise<T>
export type LookingWork<T> = (rpc: Rpc, session: { session: string }) => Promise<T>

/** An epoch that none is after: to ask for nothing but the current one. */
const LATEST = Number.MAX_SAFE_INTEGER
/** What gives the conversation as it is now. */
const HISTORY = 'getMessages()'

export class Belief {
  readonly session: string
  readonly #line: HostLine
  readonly #notices: Notices
  #epoch: number
  /** Up to which epoch it was told of rewinds by others. */
  #told: number
  #lastAutoRollback: AutoRollback | undefined

  constructor(line: HostLine, notices: Notices, { id, epoch }: { id: string; epoch: number }) {
    this.session = id
    this.#line = line
    this.#notices = notices
    this.#epoch = epoch
    this.#told = epoch
  }

  get lastAutoRollback(): AutoRollback | undefined {
    return this.#lastAutoRollback
  }

  /** Something that changes the session. @throws SessionRewoundError where it was not carried out */
  async act<T>(work: ActingWork<T>): Promise<T> {
    const { session } = this
    const epoch = this.#epoch
    return this.#line.call(async (rpc) => {
      try {
        return await work(rpc, { session, epoch })
      } catch (error) {
        throw error instanceof RewindError ? await this.#understood(rpc, error, epoch) : error
      }
    })
  }

  /** Something that changes nothing. */
  async look<T>(work: LookingWork<T>): Promise<T> {
    const { session } = this
    return this.#line.call(async (rpc) => {
      const [answer] = await Promise.all([work(rpc, { session }), this.#hear(rpc)])
      return answer
    })
  }

  /** What the rule did because of a call of this session, if anything. */
  async ruleFired(done: AutoRollback | null): Promise<void> {
    if (!done) return
    this.#lastAutoRollback = done
    if (done.status === 'rolled_back') await this.#line.call((rpc) => this.#followRule(rpc))
  }

  /** The rollback that was asked for has begun this epoch. One that others began in between stays to be told. */
  moved(epoch: number): void {
    if (epoch === this.#epoch + 1) this.#knows(epoch)
  }

  /** What the rule did before, whichever client set it off. */
  async remember(): Promise<void> {
    const { session } = this
    this.#lastAutoRollback = (await this.#line.call((rpc) => rpc.rules.lastAutoRollback({ session }))) ?? undefined
  }

  async #understood(rpc: Rpc, error: RewindError, epoch: number): Promise<RewindError> {
    const done = error.data.autoRollback as AutoRollback | null | undefined
    // A person may have had it rolled back: this call is what they answered.
    if (done && error instanceof VerificationUnknownError) this.moved(Number(error.data.epoch))
    if (done) await this.ruleFired(done)
    // A conversation may have been changed without a rewind.
    if (!(error instanceof SessionRewoundError) || !(Number(error.data.epoch) > epoch)) return error
    const missed = await rpc.timeline.missed({ session: this.session, since: epoch })
    const history = error.data.messages ? null : await rpc.messages.get({ session: this.session })
    await this.remember()
    this.#knows(missed.epoch)
    const notice = noticeFor(missed)
    return new SessionRewoundError(`This call was not carried out.\n${notice.text}`, {
      nextStep: 'Look at what changed; then make the call again if it still makes sense.',
      // The host names the conversation that the call was about, with its history.
      data: { ...error.data, ...notice, ...(history ? { messages: history.messages } : {}) },
    })
  }

  /** The rewind that a rule began; a person's since then stays to be told. */
  async #followRule(rpc: Rpc): Promise<void> {
    const { rewinds } = await rpc.timeline.missed({ session: this.session, since: this.#epoch })
    const [first] = rewinds
    if (first?.by === 'rule') this.#knows(first.epoch)
  }

  async #hear(rpc: Rpc): Promise<void> {
    const { session } = this
    const now = await rpc.timeline.missed({ session, since: LATEST })
    if (now.epoch <= Math.max(this.#told, this.#epoch)) return
    const missed = await rpc.timeline.missed({ session, since: Math.max(this.#told, this.#epoch) })
    // Two calls may have asked at once.
    if (missed.epoch <= this.#told) return
    this.#told = missed.epoch
    await this.remember()
    this.#notices.rewound(noticeFor(missed))
  }

  #knows(epoch: number): void {
    this.#epoch = Math.max(this.#epoch, epoch)
    this.#told = Math.max(this.#told, epoch)
  }
}

const noticeFor = (missed: Missed): RewindNotice => ({
  text: noticeOf(missed, HISTORY),
  epoch: missed.epoch,
  rewinds: missed.rewinds.map(({ at, by, name, only }) => ({ at, by, to: name, only })),
  files: missed.counts,
  paths: missed.paths,
})
