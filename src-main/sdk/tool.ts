/**
 * Functions as an agent's tools: a point before each call, a failure told to the model instead of thrown at the program,
 * and the rule that rolls back. A tool that fails on its own account and by a command within is one failure, and rolls
 * back once; what was rolled back is told to the model once.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  CommandError,
  CommandTimeoutError,
  RewindError,
  VerificationFailedError,
  VerificationHaltError,
} from '../contract/errors.ts'
import { anything, assertOptions, assertValue, callback, flag, text } from './checks.ts'
import type { AutoRollback } from './types.ts'

/** How a function is made a tool; every option may be left out. */
export interface ToolOptions {
  /** What the model calls it, and the name of its automatic checkpoints. Default: the function's own. */
  name?: string | undefined
  /** What it does, for the model; kept on the tool for whoever describes it to one. */
  description?: string | undefined
  /** Its parameters, in whichever way the framework wants them; kept on the tool. */
  schema?: unknown
  /**
   * Whether a failure within it may roll back by the rule on `'exception'`. False is for tools that only look; a failed
   * verification rolls back in any case. Default true.
   */
  rollbackOnError?: boolean | undefined
}

/** A function as a tool: called like the function, it resolves with what that returns, or with an error in words. */
export interface Tool<Arguments extends unknown[], Result> {
  (...args: Arguments): Promise<Result | string>
  readonly toolName: string
  readonly description: string | undefined
  readonly schema: unknown
}

/**
 * What a tool needs of its session.
 * @internal
 */
export interface ToolSession {
  before(tool: string): Promise<void>
  /** Offers a failure to the exception rule. */
  failed(error: unknown, tool: string): Promise<AutoRollback | null>
}

const toolChecks = { name: text, description: text, schema: anything, rollbackOnError: flag }

interface Frame {
  /** The exception rule is not to act. */
  muted: boolean
  /** What the rule did meanwhile, until the model was told. */
  untold: AutoRollback[]
}

/**
 * The tools of one session, and which of their calls is under way where the program stands.
 * @internal
 */
export class Tools {
  readonly #session: ToolSession
  readonly #frames = new AsyncLocalStorage<Frame>()
  /** Failures that the rule has seen, with what it did. */
  readonly #offered = new WeakMap<object, AutoRollback | null>()
  /** What could not be told with the answer of a tool that returned no text. */
  #untold: AutoRollback[] = []

  constructor(session: ToolSession) {
    this.#session = session
  }

  /** Whether the exception rule may act on what fails where the program stands. */
  get guarded(): boolean {
    return this.#frames.getStore()?.muted !== true
  }

  /** The rule has seen this failure. Within a tool, what it did is told with the tool's answer. */
  saw(error: object, done: AutoRollback | null): void {
    this.#offered.set(error, done)
    if (done?.status === 'rolled_back') this.#frames.getStore()?.untold.push(done)
  }

  /** What the rule did about a failure; undefined where it has not seen it. */
  seen(error: unknown): AutoRollback | null | undefined {
    if (typeof error !== 'object' || error === null) return undefined
    const known = this.#offered.get(error)
    if (known !== undefined) return known
    const done = error instanceof RewindError ? (error.data.autoRollback as AutoRollback | null | undefined) : null
    // One that was caught and thrown again in other words is the same failure.
    return done ?? this.seen((error as { cause?: unknown }).cause)
  }

  /** @throws InvalidOptionError */
  wrap<Arguments extends unknown[], Result>(
    work: (...args: Arguments) => Result,
    options: ToolOptions,
  ): Tool<Arguments, Awaited<Result>> {
    assertValue('the function of tool()', work, callback)
    assertOptions('tool()', options, toolChecks)
    const name = options.name ?? (work.name || 'tool')
    const call = (...args: Arguments) => this.#call(name, options.rollbackOnError ?? true, () => work(...args))
    return Object.defineProperties(call, {
      name: { value: name },
      toolName: { value: name, enumerable: true },
      description: { value: options.description, enumerable: true },
      schema: { value: options.schema, enumerable: true },
    }) as unknown as Tool<Arguments, Awaited<Result>>
  }

  async #call<Result>(name: string, rollsBack: boolean, work: () => Result): Promise<Awaited<Result> | string> {
    const frame: Frame = { muted: !this.guarded || !rollsBack, untold: [] }
    try {
      await this.#session.before(name)
      const result = await this.#frames.run(frame, async () => await work())
      return this.#answered(result, frame)
    } catch (error) {
      return this.#failed(error, name, frame)
    }
  }

  /** A failure within that the tool dealt with may have rolled back all the same. */
  #answered<Result>(result: Result, frame: Frame): Result | string {
    if (typeof result === 'string') return withNotices(result, this.#toTell(frame))
    this.#untold.push(...frame.untold)
    return result
  }

  async #failed(error: unknown, name: string, frame: Frame): Promise<string> {
    let told = wordsOf(error)
    if (!frame.muted && this.seen(error) === undefined && isFailure(error)) {
      try {
        const done = await this.#session.failed(error, name)
        if (typeof error === 'object' && error !== null) this.#offered.set(error, done)
        if (done?.status === 'rolled_back') frame.untold.push(done)
      } catch (unable) {
        told = `${told}\n${wordsOf(unable)}`
      }
    }
    if (passesOn(error)) {
      // No model reads this one: the next answer tells of it.
      this.#untold.push(...frame.untold)
      throw error
    }
    return withNotices(`ERROR: ${told}`, this.#toTell(frame))
  }

  #toTell(frame: Frame): AutoRollback[] {
    const all = [...this.#untold, ...frame.untold]
    this.#untold = []
    return all
  }
}

/**
 * Whether it says that the work failed: not that it was asked for wrongly, called off, or could not be done here.
 * @internal
 */
export function isFailure(error: unknown): boolean {
  if (error instanceof RewindError)
    return [CommandError, CommandTimeoutError, VerificationFailedError].some((kind) => error instanceof kind)
  return !(error instanceof Error && error.name === 'AbortError')
}

const PROGRAMMING_ERRORS: readonly unknown[] = [TypeError, ReferenceError, SyntaxError, RangeError]

/** A halt, and mistakes of the program itself: no model can do anything about those. One that wraps a cause is neither. */
function passesOn(error: unknown): boolean {
  if (error instanceof VerificationHaltError) return true
  return error instanceof Error && PROGRAMMING_ERRORS.includes(error.constructor) && error.cause === undefined
}

/**
 * An error as a model reads it.
 * @internal
 */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const withNotices = (text: string, done: readonly AutoRollback[]): string => [text, ...done.map(noticeOf)].join('\n')

const noticeOf = ({ to }: AutoRollback): string =>
  `[REWIND] Files and conversation were taken back to the checkpoint "${to}"; file changes since then are gone.`
