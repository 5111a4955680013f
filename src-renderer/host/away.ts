/**
 * Calls while the host is away. What only looks waits for it and is asked again; what changes something is refused at
 * once, and never sent twice: nobody should find a spinner that turns for ever, or a rewind done twice.
 */
import { ConnectionLostError, HostUnavailableError } from '../../src-main/contract/errors.ts'

/** Everything that this window may ask for and that changes something. */
const CHANGING = new Set([
  'sessions.create',
  'sessions.demo',
  'sessions.end',
  'sessions.destroy',
  'timeline.checkpoint',
  'timeline.rollback',
  'timeline.undo',
  'commands.stop',
  'commit.apply',
  'commit.undo',
  'commit.branch',
  'escalations.answer',
  'sessions.resume',
])

type Call = (path: readonly string[], input: unknown, options: { signal?: AbortSignal | undefined }) => Promise<unknown>

/**
 * @param call sends to the host; rejects with an AbortError when the line breaks on the way
 * @param isAway whether the line was open and is not any more
 */
export function guarded(call: Call, isAway: () => boolean): Call {
  return async (path, input, options) => {
    const name = path.join('.')
    const changes = CHANGING.has(name)
    if (changes && isAway())
      throw new HostUnavailableError('The host is away, so nothing was done.', {
        nextStep: 'Try again when it is back; `rewind open` in a terminal starts it.',
      })
    for (;;) {
      try {
        return await call(path, input, options)
      } catch (error) {
        if (!isLineLost(error) || options.signal?.aborted) throw error
        if (changes)
          throw new ConnectionLostError('The host went away meanwhile; whether it was done is not known.', {
            nextStep: 'The window shows how things stand as soon as the host is back.',
          })
        // The stream of events is begun again by whoever reads it, who must know of the break.
        if (name === 'events') throw error
      }
    }
  }
}

const isLineLost = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'
