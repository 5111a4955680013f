import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../contract/index.ts'
import { isCue, repairHistory, resumeCue, rewindHistory, validateHistory } from './index.ts'
import { cancelledText } from './pieces.ts'

const user = (content: string): Message => ({ role: 'user', content })
const calls = (...ids: string[]): Message => ({ role: 'assistant', content: '', tool_calls: ids.map((id) => ({ id })) })
const result = (id: string, content = `result of ${id}`): Message => ({ role: 'tool', tool_call_id: id, content })
const cancelled = (id: string): Message => result(id, cancelledText)

const kinds = (messages: Message[]) => repairHistory(messages).repairs.map(({ kind }) => kind)

describe('repair', () => {
  it('drops a turn of which no call has a result', () => {
    const dangling: Message = { role: 'assistant', content: '', tool_calls: [{ id: '1' }] }
    expect(repairHistory([user('fix it'), dangling])).toEqual({
      messages: [user('fix it')],
      repairs: [{ kind: 'dropped-turn', note: 'Dropped messages[1]: no result for call 1.' }],
    })
    expect(repairHistory([dangling]).messages).toEqual([])
  })

  it('names the tools of a dropped turn', () => {
    const turn: Message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'write_file', arguments: '{}' } }],
    }
    expect(repairHistory([turn]).repairs[0]?.note).toContain('write_file (call c1)')
  })

  it('keeps a turn that is answered in part and adds the results that are missing', () => {
    const history = [user('go'), calls('a', 'b', 'c'), result('b')]
    expect(repairHistory(history).messages).toEqual([...history, cancelled('a'), cancelled('c')])
    expect(kinds(history)).toEqual(['added-result', 'added-result'])
  })

  it('drops results without a call, and a second result of one call', () => {
    expect(repairHistory([result('x'), user('hi')]).messages).toEqual([user('hi')])
    const twice = [calls('a'), result('a'), result('a', 'again')]
    expect(repairHistory(twice).messages).toEqual(twice.slice(0, 2))
    expect(kinds(twice)).toEqual(['dropped-result'])
  })

  it('gives a result to the nearest turn before it, when ids are reused', () => {
    const first = [calls('1'), result('1', 'first')]
    expect(repairHistory([...first, calls('1'), result('1', 'second')]).repairs).toEqual([])
    expect(repairHistory([...first, user('more'), calls('1')]).messages).toEqual([...first, user('more')])
    // The first turn's call was never answered: the later result is not its own.
    expect(repairHistory([calls('1'), user('wait'), calls('1'), result('1')]).messages).toEqual([
      user('wait'),
      calls('1'),
      result('1'),
    ])
  })

  it('brings a late result back to its turn', () => {
    const history = [calls('a', 'b'), result('a'), user('hurry'), result('b'), user('done?')]
    expect(repairHistory(history).messages).toEqual([
      calls('a', 'b'),
      result('a'),
      result('b'),
      user('hurry'),
      user('done?'),
    ])
    expect(kinds(history)).toEqual(['moved-result'])
  })

  it('counts no turn that goes as standing between a call and its result', () => {
    const history = [calls('a'), calls('b'), result('a')]
    expect(repairHistory(history).messages).toEqual([calls('a'), result('a')])
    expect(kinds(history)).toEqual(['dropped-turn'])
  })

  it('knows the older function_call', () => {
    const call: Message = { role: 'assistant', content: null, function_call: { name: 'ls', arguments: '{}' } }
    const answer: Message = { role: 'function', name: 'ls', content: 'a b' }
    expect(repairHistory([call, answer]).repairs).toEqual([])
    expect(repairHistory([user('x'), call]).messages).toEqual([user('x')])
    expect(repairHistory([answer]).messages).toEqual([])
  })

  it('leaves a sound history alone, the same objects', () => {
    const history = [user('hi'), calls('a', 'b'), result('b'), result('a'), { role: 'assistant', content: 'done' }]
    const { messages, repairs } = repairHistory(history)
    expect(repairs).toEqual([])
    expect(messages.every((message, index) => message === history[index])).toBe(true)
  })
})

/** Whole turns in random order of results, with ids that later turns use again, cut anywhere. */
const id = fc.constantFrom('1', '2', '3', '4')
const turn = fc
  .uniqueArray(id, { minLength: 1, maxLength: 4 })
  .chain((ids) => fc.tuple(fc.constant(ids), fc.shuffledSubarray(ids)))
  .map(([ids, answered]) => [calls(...ids), ...answered.map((one) => result(one))])
const plain = fc.constantFrom<Message[]>(
  [user('go on')],
  [{ role: 'assistant', content: 'thinking' }],
  [{ role: 'system', content: 'be brief' }],
  [{ role: 'system', content: resumeCue({ label: 'earlier', patchNotes: null }) }],
)
const stray = id.map((one) => [result(one, 'stray')])
const history = fc
  .array(fc.oneof({ weight: 4, arbitrary: turn }, { weight: 3, arbitrary: plain }, { weight: 1, arbitrary: stray }), {
    maxLength: 12,
  })
  .map((parts) => parts.flat())
  // Every message an object of its own, so that keeping can be told from making an equal one.
  .map((messages) => messages.map((message) => ({ ...message })))
const cutHistory = fc
  .tuple(history, fc.nat({ max: 40 }), fc.nat({ max: 40 }))
  .map(([messages, from, to]) => messages.slice(Math.min(from, 2), messages.length - (to % (messages.length + 1))))

describe('rewound histories, whatever was cut where', () => {
  const rewind = (snapshot: readonly Message[]) => rewindHistory({ snapshot, label: 'stable', patchNotes: 'it broke' })

  it('are taken by the provider', () => {
    fc.assert(
      fc.property(cutHistory, (snapshot) => {
        expect(validateHistory(rewind(snapshot).messages)).toEqual([])
      }),
    )
  })

  it('hold nothing but what the snapshot held, marked results and one cue', () => {
    fc.assert(
      fc.property(cutHistory, (snapshot) => {
        const { messages, cue } = rewind(snapshot)
        const made = messages.filter((message) => !snapshot.includes(message))
        expect(made.filter((message) => message.content !== cancelledText)).toEqual([messages[cue]])
        expect(messages.filter((message) => isCue(message))).toHaveLength(1)
        expect(new Set(messages).size).toBe(messages.length)
      }),
    )
  })

  it('lose nothing that they could have kept', () => {
    fc.assert(
      fc.property(cutHistory, (snapshot) => {
        const kept = new Set(rewind(snapshot).messages)
        const lost = snapshot.filter((message) => !kept.has(message) && !isCue(message))
        for (const message of lost) expect(mayBeLost(message, snapshot)).toBe(true)
      }),
    )
  })

  it('say each repair once and are themselves in need of none', () => {
    fc.assert(
      fc.property(cutHistory, (snapshot) => {
        const once = rewind(snapshot)
        const lost = snapshot.filter((message) => !isCue(message) && !once.messages.includes(message))
        expect(once.repairs.filter(({ kind }) => kind.startsWith('dropped'))).toHaveLength(lost.length)
        const added = once.messages.filter(({ content }) => content === cancelledText)
        expect(once.repairs.filter(({ kind }) => kind === 'added-result')).toHaveLength(added.length)
        expect(rewind(once.messages)).toEqual({ ...once, repairs: [] })
      }),
    )
  })

  it('keep the order of all that is no result', () => {
    fc.assert(
      fc.property(cutHistory, (snapshot) => {
        const others = rewind(snapshot).messages.filter(({ role }) => role !== 'tool')
        const places = others.slice(0, -1).map((message) => snapshot.indexOf(message))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
      }),
    )
  })
})

/** The rule in other words than the code's: what a provider could not be shown, looked up from the message alone. */
function mayBeLost(message: Message, snapshot: readonly Message[]): boolean {
  const at = snapshot.indexOf(message)
  const makes = (other: Message, wanted: unknown) =>
    Array.isArray(other.tool_calls) && other.tool_calls.some((call) => call.id === wanted)
  const resultsBetween = (from: number, to: number, wanted: unknown) =>
    snapshot.slice(from + 1, to).filter(({ tool_call_id }) => tool_call_id === wanted).length
  if (message.role === 'tool') {
    const owner = snapshot.slice(0, at).findLastIndex((other) => makes(other, message.tool_call_id))
    return owner === -1 || resultsBetween(owner, at, message.tool_call_id) > 0
  }
  if (!Array.isArray(message.tool_calls)) return false
  return message.tool_calls.every((call) => {
    const next = snapshot.findIndex((other, index) => index > at && makes(other, call.id))
    return resultsBetween(at, next === -1 ? snapshot.length : next, call.id) === 0
  })
}
