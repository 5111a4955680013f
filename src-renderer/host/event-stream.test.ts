import { expect, test } from 'vitest'
import type { SessionEvent } from '../../src-main/contract/index.ts'
import { type EventSink, followEvents } from './event-stream.ts'
import type { Rpc } from './link.ts'

const event = (id: number, rest: Partial<SessionEvent> = {}): SessionEvent =>
  ({ id, at: new Date(), session: 's', type: 'filesChanged', ...rest }) as SessionEvent

/** A host that gives one stream per call, and remembers from where it was asked for. */
function hostGiving(...streams: SessionEvent[][]) {
  const asked: (number | null)[] = []
  const events = async ({ since }: { since?: number | null | undefined }) => {
    asked.push(since ?? null)
    const stream = streams.shift()
    if (!stream) throw new Error('away')
    return (async function* () {
      yield* stream
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
