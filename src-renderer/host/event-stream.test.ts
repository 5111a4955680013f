import { expect, test } from 'vitest'
import type { SessionEvent } from '../../src-main/contract/index.ts'
import { StoreUnavailableError } from '../../src-main/contract/index.ts'
import { toRpcError } from '../../src-main/contract/wire.ts'
import { type EventSink, followEvents } from './event-stream.ts'
import type { Rpc } from './link.ts'

const event = (id: number, rest: Partial<SessionEvent> = {}): SessionEvent =>
  ({ id, at: new Date(), session: 's', type: 'filesChanged', ...rest }) as SessionEvent

const damaged = new StoreUnavailableError('Event 7 is damaged.')

/** A host that gives one stream per call, and remembers from where it was asked for. A stream ends with its error, else in a broken line. */
function hostGiving(...streams: (SessionEvent | Error)[][]) {
  const asked: (number | null)[] = []
  const events = async ({ since }: { since?: number | null | undefined }) => {
    asked.push(since ?? null)
    const stream = streams.shift()
    if (!stream) throw new Error('away')
    return (async function* () {
      for (const item of stream) {
        if (item instanceof Error) throw toRpcError(item)
        yield item
      }
      throw new Error('the line broke')
    })()
  }
  return { rpc: { events } as unknown as Pick<Rpc, 'events'>, asked }
}

async function follow(rpc: Pick<Rpc, 'events'>, until: (seen: string[]) => boolean): Promise<string[]> {
  const seen: string[] = []
  const abort = new AbortController()
  const say = (word: string) => {
    seen.push(word)
    if (until(seen)) abort.abort()
  }
  const sink: EventSink = {
    reload: () => say('reload'),
    apply: ({ id }) => say(`event ${id}`),
    streaming: (on) => say(on ? 'on' : 'off'),
    failed: ({ code, message }) => say(`failed ${code}: ${message}`),
  }
  await followEvents(rpc, sink, abort.signal)
  return seen
}

test('subscribes before it loads, and goes on behind the last event after a break', async () => {
  const { rpc, asked } = hostGiving([event(1), event(2)], [event(3)])
  const seen = await follow(rpc, (seen) => seen.includes('event 3'))
  expect(seen).toEqual(['on', 'reload', 'event 1', 'event 2', 'off', 'on', 'event 3'])
  expect(asked).toEqual([null, 2])
})

test('loads everything again when the events asked for are gone', async () => {
  const { rpc, asked } = hostGiving([event(5)], [event(90, { type: 'resync', session: '' }), event(91)], [event(92)])
  const seen = await follow(rpc, (seen) => seen.includes('event 92'))
  expect(seen).toEqual(['on', 'reload', 'event 5', 'off', 'on', 'reload', 'event 91', 'off', 'on', 'event 92'])
  expect(asked).toEqual([null, 5, 91])
})

test('a break before the first event means loading again: nothing says what was missed', async () => {
  const { rpc } = hostGiving([], [event(1)])
  expect(await follow(rpc, (seen) => seen.includes('event 1'))).toEqual([
    'on',
    'reload',
    'off',
    'on',
    'reload',
    'event 1',
  ])
})

test('an event that the host cannot read is passed over: everything is loaded again, and it goes on from now', async () => {
  const { rpc, asked } = hostGiving([event(5), damaged], [event(9)])
  const seen = await follow(rpc, (seen) => seen.includes('event 9'))
  expect(seen).toEqual([
    'on',
    'reload',
    'event 5',
    'failed STORE_UNAVAILABLE: Event 7 is damaged.',
    'on',
    'reload',
    'event 9',
  ])
  expect(asked).toEqual([null, null])
})

test('a host that fails each time is asked ever less often', async () => {
  const { rpc, asked } = hostGiving([damaged], [damaged], [damaged], [damaged])
  const began = Date.now()
  await follow(rpc, (seen) => seen.filter((word) => word.startsWith('failed')).length === 4)
  expect(asked).toHaveLength(4)
  expect(Date.now() - began).toBeGreaterThan(400 + 800 + 1600 - 50)
})
