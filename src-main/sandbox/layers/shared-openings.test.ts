/** Who shares an opening with whom, and that each gets the answer to its own question. */
import { expect, test } from 'vitest'
import { SharedOpenings } from './shared-openings.ts'

const stack = (path: string) => [{ path, frozen: false }]

function counted(fail = false) {
  const opened: string[] = []
  const openings = new SharedOpenings<string>(async (from, to, use) => {
    opened.push(`${from[0]?.path} ${to[0]?.path}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (fail) throw new Error('cannot be opened')
    await use(from[0]?.path ?? '', to[0]?.path ?? '')
  })
  return { opened, openings }
}

test('those that come together are answered by few openings, each its own question', async () => {
  const { opened, openings } = counted()
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      openings.ask(stack('a'), stack('b'), async (from, to) => `${from}${to}${at}`),
    ),
  )
  expect(answers).toEqual(Array.from({ length: 100 }, (_, at) => `ab${at}`))
  expect(opened).toHaveLength(2)
})

test('other stacks are other openings, and one that comes later gets a new one', async () => {
  const { opened, openings } = counted()
  const ask = (to: string) => openings.ask(stack('a'), stack(to), async () => to)
  expect(await Promise.all([ask('b'), ask('c')])).toEqual(['b', 'c'])
  expect(await ask('b')).toBe('b')
  expect(opened).toEqual(['a b', 'a c', 'a b'])
})

test('a failed answer is one question’s, a failed opening is everybody’s, and neither stops the next', async () => {
  const { openings } = counted()
  const outcomes = await Promise.allSettled([
    openings.ask(stack('a'), stack('b'), () => Promise.reject(new Error('mine'))),
    openings.ask(stack('a'), stack('b'), async () => 'well'),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  const broken = counted(true).openings
  const ask = () => broken.ask(stack('a'), stack('b'), async () => 'never')
  for (const one of await Promise.allSettled([ask(), ask()])) expect(one.status).toBe('rejected')
})

test('questions that reach a thread one message after another share openings too, however fast those are', async () => {
  let opened = 0
  const openings = new SharedOpenings<string>(async (_from, _to, use) => {
    opened++
    await use('', '')
  })
  const { port1, port2 } = new MessageChannel()
  const answers: Promise<number>[] = []
  await new Promise<void>((resolve) => {
    port2.onmessage = ({ data }) => {
      answers.push(openings.ask(stack('a'), stack('b'), async () => data))
      if (data === 63) resolve()
    }
    for (let at = 0; at < 64; at++) port1.postMessage(at)
  })
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 64 }, (_, at) => at))
  expect(opened).toBeLessThan(8)
  port1.close()
})
