/** Long histories: what is done with one takes time in step with its length, not with its square. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Message, type StoredFormat, storedFormats } from '../contract/index.ts'
import { convertMessages, rewindHistory, validateHistory } from './index.ts'
import { type Step, writtenIn } from './stories.fixture.ts'

const MANY = 20_000
/** Of the processor, which other work does not make more: far more than is needed, far less than going over all for each. */
const WITHIN_MS = 10_000
const patience = { timeout: 120_000 }
let before = process.cpuUsage()

beforeEach(() => {
  before = process.cpuUsage()
})
afterEach(() => {
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(WITHIN_MS)
})

const ids = Array.from({ length: MANY }, (_, index) => `c${index}`)
/** One turn of that many calls, answered last to first. */
const parallel: Step[] = [
  { kind: 'user', mark: 'm', image: false },
  { kind: 'turn', mark: 'm', thought: null, calls: ids.map((id) => ({ id, mark: 'm' })) },
  { kind: 'results', together: true, of: ids.toReversed().map((id) => ({ id, mark: 'm' })) },
]

const rewind = (snapshot: readonly Message[], format: StoredFormat) =>
  rewindHistory({ snapshot, label: 'a', patchNotes: null }, format)

describe('a history that is long', () => {
  test.each(storedFormats)('in the format %s: thousands of calls in one turn', patience, (format) => {
    const whole = writtenIn(format, parallel)
    expect(validateHistory(whole, format)).toEqual([])
    expect(rewind(whole, format).repairs).toEqual([])
    const half = format === 'anthropic' || format === 'vercel' ? parallel.with(2, halfOf(parallel[2])) : null
    const cut = half ? writtenIn(format, half) : whole.slice(0, whole.length - MANY / 2)
    const { messages, repairs } = rewind(cut, format)
    expect(repairs).toHaveLength(MANY / 2)
    expect(validateHistory(messages, format)).toEqual([])
  })

  test('of consecutive outputs of a model', patience, () => {
    const words = { type: 'message', role: 'assistant', content: 'hm' }
    const outputs = ids.map((id, index) => (index % 2 === 0 ? words : { type: 'web_search_call', id }))
    expect(rewind([{ role: 'user', content: 'go' }, ...outputs], 'openai-responses').repairs).toEqual([])
    const spoken = ids.map(() => ({ role: 'assistant', content: 'hm' }))
    expect(rewind([{ role: 'user', content: 'go' }, ...spoken], 'anthropic').repairs).toEqual([])
  })

  test('of results without calls', patience, () => {
    const results = [...ids, ...ids].map((call_id) => ({ type: 'function_call_output', call_id, output: 'ok' }))
    expect(rewind(results, 'openai-responses').repairs).toHaveLength(2 * MANY)
  })

  test.each(storedFormats.filter((format) => format !== 'openai'))('written in the format %s', patience, (to) => {
    const { messages, notes } = convertMessages(writtenIn('openai', parallel), { from: 'openai', to })
    expect(notes).toEqual([])
    expect(validateHistory(messages, to)).toEqual([])
  })
})

function halfOf(step: Step | undefined): Step {
  if (step?.kind !== 'results') throw new Error('no results')
  return { ...step, of: step.of.slice(0, MANY / 2) }
}
