import { describe, expect, it } from 'vitest'
import { InvalidMessagesError, type Message, type StoredFormat } from '../contract/index.ts'
import { cueIndex, isCue, judgeMessages, resumeCue, rewindHistory, validateHistory, withCue } from './index.ts'

const user: Message = { role: 'user', content: 'hi' }
const call: Message = { role: 'assistant', content: '', tool_calls: [{ id: '1' }] }
const answer: Message = { role: 'tool', tool_call_id: '1', content: 'ok' }
const cueTo = (label: string): string => resumeCue({ label, patchNotes: null })

describe('parsing', () => {
  it('takes every role of the schema and gives the same objects back', () => {
    const messages = ['system', 'developer', 'user', 'assistant', 'tool', 'function'].map((role) => ({
      role,
      extra: {},
    }))
    expect(judgeMessages(messages)).toEqual({ messages, format: 'openai' })
    expect(judgeMessages(messages).messages).toBe(messages)
    expect(judgeMessages([]).messages).toEqual([])
  })

  it.each([
    ['an object', { role: 'user' }, 'not a list', undefined],
    ['a string', 'hello', 'not a list', undefined],
    ['nothing', undefined, 'not a list', undefined],
    ['an unknown role', [user, { role: 'bot', content: 'x' }], 'messages[1] has the role "bot"', 1],
    ['no role', [{ content: 'x' }], 'messages[0] has no role', 0],
    ['a role that is no text', [user, user, { role: 7 }], 'messages[2] has the role 7', 2],
    ['null in the list', [null], 'messages[0] is not a message', 0],
    ['a list in the list', [[user]], 'messages[0] is not a message', 0],
  ])('refuses %s, naming the index and what is allowed', (_what, input, message, index) => {
    const before = structuredClone(input)
    let error: unknown
    try {
      judgeMessages(input)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(InvalidMessagesError)
    expect(error).toMatchObject({
      message: expect.stringContaining(message),
      nextStep: expect.stringContaining('system, developer, user, assistant, tool or function'),
      exitCode: 64,
    })
    expect((error as InvalidMessagesError).data.index).toBe(index)
    expect(input).toEqual(before)
  })
})

describe('validating', () => {
  it.each<[string, Message[], string[]]>([
    ['a sound history', [user, call, answer, user], []],
    ['a call without a result', [user, call], ['messages[1] has no result for call 1.']],
    ['a result without a call', [answer, user], ['messages[0] is a result without a call.']],
    [
      'a result after another role',
      [call, user, answer],
      ['messages[0] is not followed at once by the result of call 1, which is messages[2].'],
    ],
    [
      'one id twice in a turn',
      [{ ...call, tool_calls: [{ id: '1' }, { id: '1' }] }, answer, answer],
      ['messages[0] makes two calls with one id, call 1.'],
    ],
    ['one id in two turns', [call, answer, call, answer], []],
    [
      'a call without an id',
      [
        { ...call, tool_calls: [{}] },
        { role: 'tool', content: 'ok' },
      ],
      ['messages[0] makes a call without an id, call.'],
    ],
    ['a user message without content', [{ role: 'user' }], ['messages[0] has no content, which user needs.']],
    ['an assistant that says nothing', [{ role: 'assistant' }], ['messages[0] has neither content nor calls.']],
    ['an assistant that only refuses', [{ role: 'assistant', content: null, refusal: 'no' }], []],
    [
      'an empty list of calls',
      [user, { role: 'assistant', content: 'hi', tool_calls: [] }],
      ['messages[1] has an empty list of calls, which may only be left out.'],
    ],
    ['calls with null for content', [{ ...call, content: null }, answer], []],
    [
      'a function result that is null',
      [
        { role: 'assistant', function_call: { name: 'f', arguments: '' } },
        { role: 'function', name: 'f', content: null },
      ],
      [],
    ],
  ])('says of %s what a provider would', (_what, messages, problems) => {
    expect(validateHistory(messages)).toEqual(problems)
  })
})

describe('the cue', () => {
  it('says where it went back to, why, and to go on', () => {
    const text = resumeCue({ label: 'before migration', patchNotes: '  the tests failed\nin auth.py ' })
    expect(text).toMatch(
      /^\[REWIND\] Environment and conversation were taken back to the checkpoint "before migration"\./,
    )
    expect(text).toContain('Patch notes: the tests failed\nin auth.py\n')
    expect(text).toMatch(/Go on from there\.$/)
    expect(resumeCue({ label: 'a', patchNotes: null })).not.toContain('Patch notes')
    expect(resumeCue({ label: 'a', patchNotes: ' ' })).not.toContain('Patch notes')
  })

  it('says which half was taken back where it was only one', () => {
    expect(resumeCue({ label: 'a', patchNotes: null, only: 'files' })).toMatch(
      /The environment was .*\n.*conversation was kept/,
    )
    expect(resumeCue({ label: 'a', patchNotes: null, only: 'messages' })).toMatch(
      /The conversation was .*\nFiles .* kept/,
    )
  })

  it('comes last, as a system message, and replaces earlier ones', () => {
    const first = withCue([user], cueTo('one'))
    expect(first).toEqual([user, { role: 'system', content: cueTo('one') }])
    const second = withCue([...first, call, answer], cueTo('two'))
    expect(second).toEqual([user, call, answer, { role: 'system', content: cueTo('two') }])
    expect(cueIndex(second)).toBe(3)
    expect(cueIndex([user])).toBeNull()
  })

  it('never stands between a call and its results', () => {
    const cue = { role: 'system', content: cueTo('now') }
    expect(withCue([user, call], cueTo('now'))).toEqual([user, cue, call])
    const half: Message = { ...call, tool_calls: [{ id: '1' }, { id: '2' }] }
    expect(withCue([user, half, answer], cueTo('now'))).toEqual([user, cue, half, answer])
    expect(withCue([half, answer, user], cueTo('now'))).toEqual([half, answer, user, cue])
  })

  it('is known by role, first and last line', () => {
    expect(isCue({ role: 'system', content: cueTo('x') })).toBe(true)
    expect(isCue({ role: 'user', content: cueTo('x') })).toBe(false)
    expect(isCue({ role: 'system', content: '[REWIND] x' })).toBe(false)
    expect(isCue({ role: 'system', content: `about ${cueTo('x')}` })).toBe(false)
    expect(isCue({ role: 'system', content: [cueTo('x')] })).toBe(false)
  })

  it.each<[StoredFormat, Message]>([
    ['openai', { role: 'system', content: '[REWIND] is a tool that you have.' }],
    ['langchain', { type: 'system', content: '[REWIND] is a tool that you have.' }],
    ['vercel', { role: 'system', content: '[REWIND] is a tool that you have.' }],
    ['vercel', { id: 's', role: 'system', parts: [{ type: 'text', text: '[REWIND] is a tool that you have.' }] }],
    ['openai-responses', { role: 'developer', content: '[REWIND] is a tool that you have.' }],
    [
      'openai-responses',
      {
        role: 'developer',
        content: [
          { type: 'input_text', text: cueTo('x') },
          { type: 'input_text', text: 'Be brief.' },
        ],
      },
    ],
  ])('in %s is not taken for instructions of a client: %j', (format, instructions) => {
    const { messages } = rewindHistory({ snapshot: [instructions], label: 'a', patchNotes: null }, format)
    expect(messages).toHaveLength(2)
    expect(messages[0]).toBe(instructions)
  })
})

describe('rewinding', () => {
  it('drops the dangling call and ends in the cue', () => {
    const { messages, repairs, cue } = rewindHistory({ snapshot: [user, call], label: 'stable', patchNotes: 'fail' })
    expect(messages).toEqual([user, { role: 'system', content: resumeCue({ label: 'stable', patchNotes: 'fail' }) }])
    expect(repairs).toHaveLength(1)
    expect(cue).toBe(1)
  })

  it('makes a history of the cue alone where the snapshot was empty', () => {
    expect(rewindHistory({ snapshot: [], label: 'base', patchNotes: null }).messages.map((one) => isCue(one))).toEqual([
      true,
    ])
  })

  it('does not take an earlier cue for a message between a call and its result', () => {
    const earlier = { role: 'system', content: cueTo('earlier') }
    const { messages, repairs } = rewindHistory({ snapshot: [call, earlier, answer], label: 'x', patchNotes: null })
    expect(messages.slice(0, 2)).toEqual([call, answer])
    expect(repairs).toEqual([])
  })
})
