import { expect, test } from 'vitest'
import { ConnectionLostError, HostUnavailableError } from '../../src-main/contract/errors.ts'
import { guarded } from './away.ts'

const lost = () => Object.assign(new Error('closed'), { name: 'AbortError' })

/** A line that breaks so many times before it answers. */
function line(breaks: number, away = false) {
  const asked: string[] = []
  const call = guarded(
    async (path) => {
      asked.push(path.join('.'))
      if (asked.length <= breaks) throw lost()
      return 'answer'
    },
    () => away,
  )
  return { asked, ask: (path: string, signal?: AbortSignal) => call(path.split('.'), {}, { signal }) }
}

test('what only looks is asked again, whatever happened to the line', async () => {
  const { ask, asked } = line(2, true)
  expect(await ask('timeline.get')).toBe('answer')
  expect(asked).toHaveLength(3)
})

test('what changes something is not sent while the host is away', async () => {
  const { ask, asked } = line(0, true)
  await expect(ask('timeline.rollback')).rejects.toThrow(HostUnavailableError)
  expect(asked).toEqual([])
})

test('what changes something is never sent twice', async () => {
  const { ask, asked } = line(1)
  await expect(ask('timeline.undo')).rejects.toThrow(ConnectionLostError)
  expect(asked).toHaveLength(1)
})

test('a question that was withdrawn is not asked again, and the stream of events learns of the break', async () => {
  const withdrawn = line(1)
  await expect(withdrawn.ask('timeline.get', AbortSignal.abort())).rejects.toThrow('closed')
  expect(withdrawn.asked).toHaveLength(1)
  await expect(line(1).ask('events')).rejects.toThrow('closed')
})
