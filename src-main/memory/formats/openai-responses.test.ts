import { describe, expect, test } from 'vitest'
import type { Message } from '../../contract/index.ts'
import { resumeCue } from '../cue.ts'
import { cancelledText } from '../pieces.ts'
import { openaiResponses as format } from './openai-responses.ts'

const user: Message = { type: 'message', role: 'user', content: 'go' }
const reasoning: Message = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' }
const call = (id: string, type = 'function_call'): Message => ({ type, call_id: id, name: 'run', arguments: '{}' })
const output = (id: string, type = 'function_call_output'): Message => ({ type, call_id: id, output: 'ok' })

describe('the Responses format', () => {
  test('takes items of every kind, and messages with and without their type', () => {
    for (const item of [
      user,
      { role: 'developer', content: 'short' },
      reasoning,
      call('a'),
      output('a'),
      { type: 'item_reference', id: 'x' },
      { type: 'web_search_call', id: 'w', status: 'completed' },
      { type: 'mcp_list_tools', id: 'm', server_label: 's', tools: [] },
    ])
      expect(format.refuse(item)).toBeNull()
    expect(format.refuse({ type: 'surprise' })).toContain('the type "surprise"')
    expect(format.refuse({ role: 'tool', content: '' })).toContain('the role "tool"')
    expect(format.refuse({ content: 'x' })).toBe('has neither a type nor a role')
  })

  test('a turn that nobody answered goes with its reasoning and its words', () => {
    const words = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'On it.' }] }
    const { messages, repairs } = format.repair([user, reasoning, words, call('a'), call('b')])
    expect(messages).toEqual([user])
    expect(repairs.map(({ kind }) => kind)).toEqual(['dropped-turn'])
  })

  test('reasoning whose item was cut off goes, reasoning of a turn that stays stays', () => {
    expect(format.repair([user, reasoning])).toMatchObject({
      messages: [user],
      repairs: [{ kind: 'dropped-reasoning' }],
    })
    expect(format.validate([user, reasoning])).toEqual(['messages[1] ends in reasoning that leads to nothing.'])
    const whole = [user, reasoning, call('a'), output('a')]
    expect(format.repair(whole).messages).toEqual(whole)
  })

  test.each([
    ['function_call', 'function_call_output', { output: cancelledText }],
    ['custom_tool_call', 'custom_tool_call_output', { output: cancelledText }],
    ['computer_call', 'computer_call_output', { output: { type: 'computer_screenshot' } }],
    ['shell_call', 'shell_call_output', { output: [{ stderr: cancelledText }] }],
    ['apply_patch_call', 'apply_patch_call_output', { status: 'failed' }],
    ['local_shell_call', 'local_shell_call_output', { output: cancelledText }],
    ['tool_search_call', 'tool_search_output', { tools: [] }],
  ])('%s is answered by %s, in kind', (called, answer, made) => {
    const whole = [call('a'), call('b', called), output('a'), output('b', answer)]
    expect(format.validate(whole)).toEqual([])
    expect(format.repair(whole).repairs).toEqual([])
    const { messages } = format.repair(whole.slice(0, 3))
    expect(messages[2]).toMatchObject({ type: answer, call_id: 'b', ...made })
    expect(format.validate(messages)).toEqual([])
    // An output of another kind is no answer.
    expect(format.validate([call('a', called), output('a', 'x_output')])).toHaveLength(1)
  })

  test('an approval is answered by its request’s id', () => {
    const ask = { type: 'mcp_approval_request', id: 'r', name: 'delete', arguments: '{}', server_label: 's' }
    const allow = { type: 'mcp_approval_response', approval_request_id: 'r', approve: true }
    expect(format.validate([user, ask, allow])).toEqual([])
    expect(format.repair([user, allow]).messages).toEqual([user])
    expect(format.repair([user, call('a'), ask, output('a')]).messages[3]).toMatchObject({ approve: false })
  })

  test('a local shell’s output may name the call by its item', () => {
    const shell = { type: 'local_shell_call', id: 'lsh_1', call_id: 'c', action: {} }
    expect(format.validate([shell, { type: 'local_shell_call_output', id: 'lsh_1', output: 'ok' }])).toEqual([])
  })

  test('what an item reference stands for may be the call that an output answers', () => {
    const history = [user, { type: 'item_reference', id: 'fc_1' }, output('unseen')]
    expect(format.repair(history)).toEqual({ messages: history, repairs: [] })
    expect(format.repair([user, output('unseen')]).messages).toEqual([user])
  })

  test('the cue is a developer’s item', () => {
    const words = (label: string) => resumeCue({ label, patchNotes: null })
    const [, cue] = format.withCue([user], words('now'))
    expect(cue).toEqual({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: words('now') }] })
    expect(format.withCue([user, cue as Message, user], words('later')).filter(format.isCue)).toHaveLength(1)
    expect(format.isCue({ role: 'developer', content: words('as text') })).toBe(true)
    expect(format.isCue({ role: 'developer', content: '[REWIND] is what we call this' })).toBe(false)
  })
})
