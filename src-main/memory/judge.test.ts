import { describe, expect, test } from 'vitest'
import { InvalidMessagesError, type Message, type StoredFormat } from '../contract/index.ts'
import {
  convertMessages,
  cueIndex,
  isCue,
  judgeMessages,
  MAX_DEPTH,
  repairHistory,
  resumeCue,
  rewindHistory,
  validateHistory,
  validityOf,
} from './index.ts'

const user: Message = { role: 'user', content: 'hi' }

describe('auto', () => {
  test.each<[StoredFormat, Message[]]>([
    ['openai', []],
    ['openai', [user]],
    ['openai', [user, { role: 'assistant', content: '', tool_calls: [{ id: '1' }] }]],
    ['openai', [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }]],
    ['openai', [user, { role: 'tool', tool_call_id: '1', content: 'ok' }]],
    // A kind of part that no schema names yet: the roles decide.
    ['openai', [{ role: 'developer', content: [{ type: 'hologram' }] }]],
    ['anthropic', [user, { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: {} }] }]],
    ['anthropic', [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'x' } }] }]],
    [
      'vercel',
      [user, { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '1', toolName: 'f', input: 1 }] }],
    ],
    ['vercel', [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }]],
    ['openai-responses', [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]],
    ['openai-responses', [user, { type: 'function_call', call_id: '1', name: 'f', arguments: '' }]],
    ['openai-responses', [{ type: 'message', role: 'user', content: 'hi' }]],
    ['anthropic', [user, { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'hi' }] }]],
    ['langchain', [{ type: 'human', content: 'hi' }]],
    ['langchain', [{ type: 'human', data: { content: 'hi' } }]],
    [
      'langchain',
      [{ lc: 1, type: 'constructor', id: ['langchain', 'schema', 'messages', 'AIMessageChunk'], kwargs: {} }],
    ],
    ['langchain', [user, { role: 'assistant', content: '', tool_calls: [{ id: '1', name: 'f', args: {} }] }]],
  ])('takes for %s: %j', (format, messages) => {
    expect(judgeMessages(messages).format).toBe(format)
  })

  test('a conversation keeps its format while everything new fits it', () => {
    expect(judgeMessages([user], { before: 'anthropic', known: 0 }).format).toBe('anthropic')
    expect(judgeMessages([], { before: 'vercel' }).format).toBe('vercel')
    const blocks = [user, { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'f', input: {} }] }]
    expect(judgeMessages(blocks, { before: 'openai', known: 1 }).format).toBe('anthropic')
  })

  test('what fits nothing together is refused where it stops to fit', () => {
    const mixed = [user, { type: 'function_call', call_id: '1' }, { role: 'tool', tool_call_id: '1', content: '' }]
    expect(() => judgeMessages(mixed)).toThrow(InvalidMessagesError)
    expect(() => judgeMessages(mixed)).toThrow(
      "messages[2] does not fit what stands before it, which is of OpenAI's Responses format",
    )
  })

  test.each([
    ['anthropic', { role: 'system', content: 'x' }, 'parameter of the request'],
    ['openai-responses', { type: 'surprise' }, "OpenAI's Responses format does not know"],
    ['vercel', { role: 'developer', content: 'x' }, "the AI SDK's format does not know"],
    ['langchain', { lc: 1, type: 'constructor', id: ['x', 'BaseMessage'], kwargs: {} }, 'the class "BaseMessage"'],
    ['dict', { role: 'ai', content: 'x' }, "OpenAI's chat format does not know"],
  ] as const)('%s is held to its own roles', (wanted, message, words) => {
    expect(() => judgeMessages([user, message], { wanted })).toThrow(words)
  })

  test('depth has an end, and what JSON cannot hold is none', () => {
    const nested = (levels: number) => ({ role: 'user', content: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) })
    expect(judgeMessages([nested(MAX_DEPTH - 1)]).format).toBe('openai')
    expect(() => judgeMessages([nested(MAX_DEPTH)])).toThrow(`deeper than ${MAX_DEPTH} levels`)
    expect(() => judgeMessages([nested(100_000)])).toThrow('deeper than')
    const round: Record<string, unknown> = { role: 'user' }
    round.content = round
    expect(() => judgeMessages([round])).toThrow('deeper than')
    expect(() => judgeMessages([{ role: 'user', content: Number.NaN }])).toThrow('holds NaN')
    expect(() => judgeMessages([{ role: 'user', content: () => 1 }])).toThrow('holds a function')
  })
})

describe('converting', () => {
  test('says what it leaves out', () => {
    const source: Message[] = [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi', name: 'ann', vendor: 1 },
      { role: 'assistant', content: 'yes', reasoning_content: 'hm' },
    ]
    const { messages, notes } = convertMessages(source, { from: 'openai', to: 'anthropic' })
    expect(messages).toEqual([user, { role: 'assistant', content: 'yes' }])
    expect(notes).toEqual([
      'messages[1]: the field vendor cannot be expressed and was left out.',
      'messages[2]: the field reasoning_content cannot be expressed and was left out.',
      expect.stringMatching(/^messages\[0\]: a system message has no place in the list/),
      'messages[1]: the field name cannot be expressed and was left out.',
    ])
  })

  test('puts the cue where the other provider takes it', () => {
    const cue = '[REWIND] Environment and conversation were taken back to the checkpoint "a".\nGo on from there.'
    const source = [user, { role: 'system', content: cue }]
    const { messages, notes } = convertMessages(source, { from: 'openai', to: 'anthropic' })
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'text', text: cue },
        ],
      },
    ])
    expect(notes).toEqual([])
    expect(convertMessages(messages, { from: 'anthropic', to: 'openai-responses' }).messages[1]).toMatchObject({
      role: 'developer',
    })
  })

  const cue = resumeCue({ label: 'a', patchNotes: null })
  const block = (words: string) => ({ type: 'text', text: words })
  const done: Message = { role: 'assistant', content: 'done' }
  const again: Message = { role: 'user', content: 'again' }
  const answered = (id: string): Message[] => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'run', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'ok' },
  ]
  const use = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'run', input: {} }] })
  const answer = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })

  test.each<[string, Message[], Message[]]>([
    [
      'in the next user turn',
      [user, { role: 'system', content: cue }, again, done],
      [user, { role: 'user', content: [block(cue), block('again')] }, done],
    ],
    [
      'between results and what a person said then',
      [user, ...answered('x'), { role: 'system', content: cue }, again, done],
      [user, use('x'), { role: 'user', content: [answer('x'), block(cue), block('again')] }, done],
    ],
    [
      'before the assistant that goes on without a word of a person',
      [user, ...answered('x'), { role: 'system', content: cue }, done],
      [user, use('x'), { role: 'user', content: [answer('x'), block(cue)] }, done],
    ],
    [
      'first, in a history that begins with it',
      [{ role: 'system', content: cue }, ...answered('x')],
      [{ role: 'user', content: [block(cue)] }, use('x'), { role: 'user', content: [answer('x')] }],
    ],
    [
      'once, where an earlier one stands too',
      [{ role: 'system', content: cue.replace('"a"', '"b"') }, user, { role: 'system', content: cue }, again, done],
      [user, { role: 'user', content: [block(cue), block('again')] }, done],
    ],
  ])('leaves an older cue where it stood: %s', (_where, source, expected) => {
    const there = convertMessages(source, { from: 'openai', to: 'anthropic' })
    expect(there).toEqual({ messages: expected, notes: [] })
    for (const to of ['openai', 'langchain', 'vercel', 'openai-responses'] as const) {
      const { messages } = convertMessages(expected, { from: 'anthropic', to })
      expect(validateHistory(messages, to)).toEqual([])
      const last = source.findLastIndex((message) => message.content === cue)
      const saidBefore = source.slice(0, last).filter((message) => !isCue(message)).length
      expect(cueIndex(messages, to)).toBe(saidBefore)
      expect(messages.length).toBeGreaterThan(saidBefore + 1)
    }
  })

  test('never puts an older cue between a call and its results', () => {
    const source: Message[] = [
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'x', name: 'run', arguments: '{}' },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: cue }] },
      { type: 'function_call_output', call_id: 'x', output: 'ok' },
      { role: 'assistant', content: 'done' },
    ]
    const { messages } = convertMessages(source, { from: 'openai-responses', to: 'openai' })
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'system', 'assistant'])
  })

  test('keeps arguments that are no JSON, and calls of free text', () => {
    const tool_calls = [
      { id: '1', type: 'function', function: { name: 'f', arguments: '{"half' } },
      { id: '2', type: 'custom', custom: { name: 'g', input: 'free' } },
    ]
    const source = [user, { role: 'assistant', content: null, tool_calls }]
    const { messages } = convertMessages(source, { from: 'openai', to: 'anthropic' })
    expect(messages[1]?.content).toMatchObject([{ input: { input: '{"half' } }, { input: { input: 'free' } }])
    const responses = convertMessages(source, { from: 'openai', to: 'openai-responses' }).messages
    expect(responses.slice(1)).toMatchObject([{ arguments: '{"half' }, { type: 'custom_tool_call', input: 'free' }])
  })

  test('keeps arguments to the letter between formats that write them as text, and says where numbers were rounded', () => {
    const args = '{"id":12345678901234567890,"x":1.0}'
    const source: Message[] = [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: args } }],
      },
      { role: 'tool', tool_call_id: '1', content: 'ok' },
    ]
    const there = convertMessages(source, { from: 'openai', to: 'openai-responses' })
    expect(there.messages[1]).toMatchObject({ arguments: args })
    expect(convertMessages(there.messages, { from: 'openai-responses', to: 'openai' })).toEqual({
      messages: source,
      notes: [],
    })
    for (const to of ['anthropic', 'vercel', 'langchain'] as const) {
      expect(convertMessages(source, { from: 'openai', to }).notes).toEqual([
        'messages[1]: the arguments of f hold numbers that are too long to be expressed, and were rounded.',
      ])
      const exact = JSON.parse(JSON.stringify(source).replace('12345678901234567890', '12345678901234567000'))
      expect(convertMessages(exact, { from: 'openai', to }).notes).toEqual([])
      const quoted = JSON.parse(JSON.stringify(source).replace('12345678901234567890', '\\"12345678901234567890\\"'))
      expect(convertMessages(quoted, { from: 'openai', to }).notes).toEqual([])
    }
  })

  test('keeps an image in the answer of a tool, or says that it goes', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
    const source = [...answered('x').slice(0, 1), { role: 'tool', tool_call_id: 'x', content: [image] }]
    const { messages, notes } = convertMessages(source, { from: 'openai', to: 'anthropic' })
    expect(messages[1]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'x',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }],
      },
    ])
    expect(notes).toEqual([])
    expect(convertMessages(messages, { from: 'anthropic', to: 'openai' }).notes).toEqual([
      'messages[1]: an image cannot be expressed and was left out.',
    ])
  })

  test('reads the bytes of an address with parameters', () => {
    const at = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    const { messages } = convertMessages(at('data:image/png;charset=utf-8;base64,aGk='), {
      from: 'openai',
      to: 'anthropic',
    })
    expect(messages[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
    ])
    const file = { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;charset=latin1;base64,aGk=' } }
    const there = convertMessages([{ role: 'user', content: [file] }], { from: 'openai', to: 'openai-responses' })
    expect(there.messages[0]?.content).toMatchObject([{ file_data: 'data:text/plain;charset=latin1;base64,aGk=' }])
  })

  test('the verdict of every provider, over one history', () => {
    const all = validityOf([user, { role: 'assistant', content: '', tool_calls: [{ id: '1' }] }], 'openai')
    expect(all).toHaveLength(5)
    for (const { problems } of all) expect(problems).toEqual([expect.stringContaining('has no result for')])
  })
})

describe('LangChain', () => {
  test('a call that stands in the content alone is a call', () => {
    const part = (id: string) => ({ type: 'tool_use', id, name: 'f', input: { x: 1 } })
    const turn = { type: 'ai', content: [{ type: 'text', text: 'On it.' }, part('a'), part('b')] }
    const results = ['a', 'b'].map((id) => ({ type: 'tool', content: 'ok', tool_call_id: id }))
    const tool_calls = [{ type: 'tool_call', id: 'a', name: 'f', args: { x: 1 } }]
    for (const source of [
      [{ type: 'human', content: 'hi' }, turn, ...results],
      [{ type: 'human', content: 'hi' }, { ...turn, tool_calls }, ...results],
    ]) {
      expect(validateHistory(source, 'langchain')).toEqual([])
      expect(repairHistory(source, 'langchain').repairs).toEqual([])
      const { messages, notes } = convertMessages(source, { from: 'langchain', to: 'anthropic' })
      expect(messages[1]?.content).toEqual([{ type: 'text', text: 'On it.' }, part('a'), part('b')])
      expect(validateHistory(messages, 'anthropic')).toEqual([])
      expect(notes).toEqual([])
    }
    expect(repairHistory([{ type: 'human', content: 'hi' }, turn], 'langchain').messages).toHaveLength(1)
    // What is none of the assistant's, or has no id, is told of.
    const unread = [
      { type: 'human', content: [part('a')] },
      { type: 'ai', content: [{ type: 'tool_use' }] },
    ]
    expect(convertMessages(unread, { from: 'langchain', to: 'openai' }).notes).toHaveLength(2)
  })

  test('a result that is added takes the form of its turn', () => {
    const calls = [
      { id: 'a', name: 'f', args: {} },
      { id: 'b', name: 'f', args: {} },
    ]
    const path = ['langchain_core', 'messages']
    const constructed = (name: string, kwargs: object) => ({ lc: 1, type: 'constructor', id: [...path, name], kwargs })
    const { messages } = repairHistory(
      [
        constructed('AIMessage', { content: '', tool_calls: calls }),
        constructed('ToolMessage', { content: 'ok', tool_call_id: 'b' }),
      ],
      'langchain',
    )
    expect(messages[2]).toMatchObject({
      lc: 1,
      id: [...path, 'ToolMessage'],
      kwargs: { tool_call_id: 'a', status: 'error' },
    })
    const stored = repairHistory(
      [
        { type: 'ai', data: { content: '', tool_calls: calls } },
        { type: 'tool', data: { content: 'ok', tool_call_id: 'b' } },
      ],
      'langchain',
    )
    expect(stored.messages[2]).toMatchObject({ type: 'tool', data: { tool_call_id: 'a' } })
  })

  test('calls that the provider wrote wrongly, and those in its own fields, are calls', () => {
    const invalid = { type: 'ai', content: '', invalid_tool_calls: [{ id: 'x', name: 'f', args: '{' }] }
    expect(repairHistory([{ type: 'human', content: 'hi' }, invalid], 'langchain').messages).toHaveLength(1)
    const raw = { type: 'ai', content: '', additional_kwargs: { tool_calls: [{ id: 'y', function: { name: 'f' } }] } }
    expect(repairHistory([raw, { type: 'tool', content: '', tool_call_id: 'y' }], 'langchain').repairs).toEqual([])
  })
})

describe('Anthropic', () => {
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's' }
  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })

  test('a turn written block by block, as transcripts are, stays whole or goes whole', () => {
    const turn = [thinking, { type: 'text', text: 'On it.' }, use('a'), use('b')].map((block) => ({
      role: 'assistant',
      content: [block],
    }))
    expect(repairHistory([user, ...turn], 'anthropic').messages).toEqual([user])
    const half = [user, ...turn, { role: 'user', content: [result('b')] }]
    const { messages } = repairHistory(half, 'anthropic')
    expect(messages.slice(0, 5)).toEqual(half.slice(0, 5))
    expect(messages[5]?.content).toMatchObject([result('b'), { tool_use_id: 'a', is_error: true }])
  })

  test('thinking that leads to nothing goes', () => {
    const only = { role: 'assistant', content: [thinking] }
    expect(repairHistory([user, only], 'anthropic').messages).toEqual([user])
    const trailing = { role: 'assistant', content: [{ type: 'text', text: 'so' }, thinking] }
    expect(repairHistory([user, trailing], 'anthropic').messages[1]?.content).toEqual([{ type: 'text', text: 'so' }])
  })

  test('results come first in their turn, and a person’s words among them stay', () => {
    const words = { type: 'text', text: 'hurry' }
    const history = [
      user,
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [result('a'), words], extra: 1 },
      { role: 'user', content: [result('b')] },
    ]
    const { messages, repairs } = repairHistory(history, 'anthropic')
    expect(messages[2]).toEqual({ role: 'user', content: [result('a'), result('b'), words], extra: 1 })
    expect(messages).toHaveLength(3)
    expect(repairs.map(({ kind }) => kind)).toEqual(['moved-result'])
  })

  test('takes an id of its characters alone, and once', () => {
    const turn = (id: string) => [
      { role: 'assistant', content: [use(id)] },
      { role: 'user', content: [result(id)] },
    ]
    expect(validateHistory([user, ...turn('toolu_1-A'), ...turn('b')], 'anthropic')).toEqual([])
    expect(validateHistory([user, ...turn('a'), ...turn('a'), ...turn('call:1')], 'anthropic')).toEqual([
      'messages[3] makes a call with the id of an earlier one, f (call a).',
      'messages[5] makes a call whose id is not of letters, digits, _ and - alone, f (call call:1).',
    ])
    const unnamed = { role: 'assistant', content: [{ type: 'tool_use', name: 'f', input: {} }] }
    expect(validateHistory([user, unnamed, { role: 'user', content: [result('')] }], 'anthropic')).toEqual([
      'messages[1] makes a call without an id.',
    ])
    expect(validateHistory([user, { role: 'assistant', content: [use('a'), use('a')] }], 'anthropic')).toEqual([
      'messages[1] has no result for f (call a).',
      'messages[1] makes two calls with one id, f (call a).',
      'messages[1] has no result for f (call a).',
    ])
  })

  test('is given such ids by a conversion, calls and results alike', () => {
    const turn = (...ids: string[]): Message[] => [
      {
        role: 'assistant',
        content: null,
        tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
      },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'ok' })),
    ]
    const source = [user, ...turn('1', 'run:1'), ...turn('1', '1_2'), ...turn('1'), ...turn('run 1'), ...turn('')]
    const { messages, notes } = convertMessages(source, { from: 'openai', to: 'anthropic' })
    expect(messages).toEqual([
      user,
      { role: 'assistant', content: [use('1'), use('run_1')] },
      { role: 'user', content: [result('1'), result('run_1')] },
      { role: 'assistant', content: [use('1_2'), use('1_2_2')] },
      { role: 'user', content: [result('1_2'), result('1_2_2')] },
      { role: 'assistant', content: [use('1_3')] },
      { role: 'user', content: [result('1_3')] },
      { role: 'assistant', content: [use('run_1_2')] },
      { role: 'user', content: [result('run_1_2')] },
      { role: 'assistant', content: [use('call')] },
      { role: 'user', content: [result('call')] },
    ])
    expect(notes).toEqual([])
    expect(validateHistory(messages, 'anthropic')).toEqual([])
  })

  test('gives a result to the nearest turn before it all the same, where an id is used again', () => {
    const turn = { role: 'assistant', content: [use('a')] }
    const answered = { role: 'user', content: [result('a')] }
    expect(repairHistory([user, turn, answered, user, turn], 'anthropic').messages).toEqual([
      user,
      turn,
      answered,
      user,
    ])
  })

  test('begins with the user: turns that would come first go, with their results', () => {
    const hm: Message = { role: 'assistant', content: 'hm' }
    const on: Message = { role: 'user', content: 'go on' }
    const { messages, repairs } = repairHistory([{ role: 'user', content: [result('x')] }, hm, on], 'anthropic')
    expect(messages).toEqual([on])
    expect(repairs).toEqual([
      { kind: 'dropped-result', note: 'Dropped messages[0]: a result without a call.' },
      { kind: 'dropped-turn', note: 'Dropped messages[1]: nothing of the user stands before it.' },
    ])
    const calling = { role: 'assistant', content: [use('a'), use('b')] }
    const answered = { role: 'user', content: [result('a'), { type: 'text', text: 'hurry' }] }
    const cut = repairHistory([calling, answered, hm], 'anthropic')
    expect(cut.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'hurry' }] }, hm])
    expect(cut.repairs).toEqual([
      { kind: 'dropped-turn', note: 'Dropped messages[0] with its results: nothing of the user stands before it.' },
    ])
    expect(validateHistory(cut.messages, 'anthropic')).toEqual([])
    expect(repairHistory([hm, calling, { role: 'user', content: [result('b')] }], 'anthropic').messages).toEqual([])
  })

  test('what went on from a cue alone is kept when that cue gives way to a later one', () => {
    const first = rewindHistory({ snapshot: [], label: 'base', patchNotes: null }, 'anthropic').messages
    const work = [
      { role: 'assistant', content: [use('a')] },
      { role: 'user', content: [result('a')] },
    ]
    const { messages, repairs } = rewindHistory(
      { snapshot: [...first, ...work], label: 'a', patchNotes: null },
      'anthropic',
    )
    expect(repairs).toEqual([])
    expect(messages[1]).toEqual(work[0])
    expect(messages.filter((message) => isCue(message, 'anthropic'))).toEqual([messages[2]])
    expect(validateHistory(messages, 'anthropic')).toEqual([])
    const again = rewindHistory({ snapshot: messages, label: 'a', patchNotes: null }, 'anthropic')
    expect(again).toEqual({ messages, repairs: [], cue: 2 })
  })

  test('says what a strict provider would not take', () => {
    const problems = validityOf(
      [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'x' },
            { type: 'text', text: '' },
          ],
        },
        { role: 'user', content: [] },
        { role: 'user', content: [use('a')] },
        { role: 'assistant', content: [result('b')] },
        user,
      ],
      'anthropic',
    ).find(({ format }) => format === 'anthropic')?.problems
    expect(problems).toEqual([
      'messages[0] comes first and is not of the user.',
      'messages[0] holds thinking without a signature.',
      'messages[0] holds an empty text block.',
      'messages[1] has empty content.',
      'messages[2] is of the user and makes a call.',
      'messages[3] is of the assistant and holds a result.',
    ])
  })
})
