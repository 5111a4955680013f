/** Sessions for a block of code. */
import { assertValue, callback } from './checks.ts'
import type { SessionOptions } from './options.ts'
import { RewindSession } from './session.ts'

/**
 * Begins a session. A live one of the same name and workspace is ended first; `new RewindSession().start()` would
 * attach to it. `await using`, `end()` or `destroy()` end it; a program that just ends leaves it running, to be attached
 * to again. To hear of the making of its image, listen before it starts: `new RewindSession()`, `on()`, `start()`.
 * @throws as `start()`
 */
export const session = (options: SessionOptions = {}): Promise<RewindSession> =>
  new RewindSession(options).start({ force: true })

/**
 * Begins a session for the length of a function. A clean end ends the session (see `destroyOnExit`) and warns where
 * changes were not taken home, with how they can still be had; after an error it is ended too, and the error is thrown
 * on. A halted session is kept however the function ended.
 * @returns what the function returned
 */
export function withSession<Result>(work: (session: RewindSession) => Result): Promise<Awaited<Result>>
export function withSession<Result>(
  options: SessionOptions,
  work: (session: RewindSession) => Result,
): Promise<Awaited<Result>>
export async function withSession<Result>(
  ...given:
    | [work: (session: RewindSession) => Result]
    | [options: SessionOptions, work: (session: RewindSession) => Result]
): Promise<Awaited<Result>> {
  const [options, work] = given.length === 1 ? [{}, given[0]] : given
  assertValue('the function of withSession()', work, callback)
  const begun = await session(options)
  let result: Awaited<Result>
  try {
    result = await work(begun)
  } catch (error) {
    // What went wrong in the block is what matters: a failure to end it is told beside.
    await begun.conclude('failed').catch((unable: unknown) => {
      process.emitWarning(`Session ${begun.name} could not be ended: ${(unable as Error).message}`, {
        type: 'RewindWarning',
        code: 'REWIND_NOT_ENDED',
      })
    })
    throw error
  }
  await begun.conclude('clean')
  return result
}
