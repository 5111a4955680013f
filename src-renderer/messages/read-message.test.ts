import { describe, expect, test } from 'vitest'
import { readMessage } from './read-message.ts'

describe('reading messages', () => {
  test('OpenAI chat: text, calls, results', () => {
    expect(
      readMessage({
        role: 'assistant',
        content: 'Now.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'write', arguments: '{"path":"a","n":2}' } }],
      }).parts,
    ).toEqual([
      { kind: 'text', text: 'Now.' },
      {
        kind: 'call',
        id: 'c1',
        name: 'write',
        fields: [
          { name: 'path', text: 'a' },
          { name: 'n', text: '2' },
        ],
      },
    ])
    expect(readMessage({ role: 'tool', tool_call_id: 'c1', content: 'done' }).parts).toEqual([
      { kind: 'result', id: 'c1', text: 'done', failed: false },
    ])
  })

  test('Anthropic: blocks, thinking, failed results', () => {
    const { parts } = readMessage({
      role: 'user',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'x' },
        { type: 'tool_use', id: 't', name: 'run', input: { cmd: 'ls' } },
        { type: 'tool_result', tool_use_id: 't', is_error: true, content: [{ type: 'text', text: 'no' }] },
      ],
    })
    expect(parts).toEqual([
      { kind: 'thinking', text: 'hm' },
      { kind: 'call', id: 't', name: 'run', fields: [{ name: 'cmd', text: 'ls' }] },
      { kind: 'result', id: 't', text: 'no', failed: true },
    ])
  })

  test('LangChain and Vercel: calls beside and within the content', () => {
    const beside = readMessage({
      role: 'assistant',
      content: '',
      tool_calls: [{ id: '1', name: 'go', args: { a: 1 } }],
    })
    expect(beside.parts).toEqual([{ kind: 'call', id: '1', name: 'go', fields: [{ name: 'a', text: '1' }] }])
    const within = readMessage({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: '1', output: { type: 'text', value: 'ok' } }],
    })
    expect(within.parts).toEqual([{ kind: 'result', id: '1', text: 'ok', failed: false }])
  })

  test('LangChain: every form in which it is written down', () => {
    const fields = { content: 'hi', tool_calls: [{ id: '1', name: 'go', args: {} }] }
    for (const message of [
      { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessage'], kwargs: fields },
      { type: 'ai', data: fields },
      { type: 'ai', ...fields },
    ])
      expect(readMessage(message)).toEqual({
        role: 'ai',
        parts: [
          { kind: 'text', text: 'hi' },
          { kind: 'call', id: '1', name: 'go', fields: [] },
        ],
      })
  })

  test('OpenAI Responses: items that are no messages', () => {
    expect(readMessage({ type: 'function_call', call_id: 'c', name: 'ls', arguments: '{"path":"."}' })).toEqual({
      role: 'function_call',
      parts: [{ kind: 'call', id: 'c', name: 'ls', fields: [{ name: 'path', text: '.' }] }],
    })
    expect(readMessage({ type: 'function_call_output', call_id: 'c', output: 'a b' }).parts).toEqual([
      { kind: 'result', id: 'c', text: 'a b', failed: false },
    ])
    expect(readMessage({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }).parts).toEqual([
      { kind: 'thinking', text: 'hm' },
    ])
    expect(readMessage({ type: 'item_reference', id: 'x' }).role).toBe('item_reference')
  })

  test('the AI SDK’s user interface: a call and its result in one part', () => {
    const part = { type: 'tool-ls', toolCallId: 'c', state: 'output-available', input: {}, output: 'a b' }
    expect(readMessage({ id: 'm', role: 'assistant', parts: [{ type: 'step-start' }, part] }).parts).toEqual([
      { kind: 'call', id: 'c', name: 'ls', fields: [] },
      { kind: 'result', id: 'c', text: 'a b', failed: false },
    ])
  })

  test('what nobody knows is kept, not lost and not thrown at', () => {
    const { parts } = readMessage({ role: 'assistant', content: [{ type: 'surprise', x: 1 }, 7, 'plain'] })
    expect(parts.map(({ kind }) => kind)).toEqual(['other', 'other', 'text'])
    expect(JSON.stringify(parts)).toContain('surprise')
    expect(readMessage({ role: 'user', content: null }).parts).toEqual([])
  })

  test('arguments that are no JSON are shown as they came', () => {
    const { parts } = readMessage({
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{"half' } }],
    })
    expect(parts).toEqual([{ kind: 'call', id: 'c', name: 'f', fields: [{ name: '', text: '{"half' }] }])
  })
})
