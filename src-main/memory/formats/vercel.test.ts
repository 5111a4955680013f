import { describe, expect, test } from 'vitest'
import type { Message } from '../../contract/index.ts'
import { convertMessages } from '../convert.ts'
import { resumeCue } from '../cue.ts'
import { cancelledText } from '../pieces.ts'
import { vercel as format } from './vercel.ts'

const user: Message = { role: 'user', content: 'go' }
const calling = (...parts: object[]): Message => ({ role: 'assistant', content: parts })
const call = (id: string, more: object = {}) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'run',
  input: {},
  ...more,
})
const result = (id: string) => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'run',
  output: { type: 'text', value: 'ok' },
})
const tool = (...parts: object[]): Message => ({ role: 'tool', content: parts })

describe('the AI SDK’s model messages', () => {
  test('what the provider runs itself needs no result here', () => {
    const history = [user, calling(call('a', { providerExecuted: true }), { type: 'text', text: 'done' })]
    expect(format.validate(history)).toEqual([])
    expect(format.repair(history)).toEqual({ messages: history, repairs: [] })
  })

  test('missing results come to stand with those that are there', () => {
    const { messages } = format.repair([user, calling(call('a'), call('b')), tool(result('b'))])
    expect(messages[2]).toEqual(
      tool(result('b'), {
        type: 'tool-result',
        toolCallId: 'a',
        toolName: 'run',
        output: { type: 'error-text', value: cancelledText },
      }),
    )
  })

  test('approvals are asked and answered', () => {
    const ask = { type: 'tool-approval-request', approvalId: 'p', toolCallId: 'a' }
    const allow = { type: 'tool-approval-response', approvalId: 'p', approved: true }
    expect(format.validate([user, calling(call('a'), ask), tool(allow, result('a'))])).toEqual([])
    expect(format.repair([user, calling(call('a'), ask)]).messages).toEqual([user])
    expect(format.validate(format.repair([user, calling(call('a'), ask), tool(allow)]).messages)).toEqual([])
  })

  test('what no provider takes is named', () => {
    expect(
      format.validate([{ role: 'system', content: [] }, { role: 'tool', content: 'x' }, { role: 'user' }]),
    ).toEqual([
      'messages[0] is of the system and no text.',
      'messages[1] is of a tool and no list of results.',
      'messages[2] has no content, which user needs.',
    ])
  })
})

describe('the messages of its user interface', () => {
  const asked: Message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
  const step = { type: 'step-start' }
  const part = (id: string, state: string, more: object = {}) => ({
    type: 'tool-run',
    toolCallId: id,
    state,
    input: { path: '.' },
    ...more,
  })
  const answer = (...parts: object[]): Message => ({ id: 'm2', role: 'assistant', parts })
  const done = part('a', 'output-available', { output: 'ok' })

  test('come in, and stay as they are where all is answered', () => {
    const history = [asked, answer(step, done, step, { type: 'text', text: 'fine' })]
    expect(history.every(format.fits)).toBe(true)
    expect(format.validate(history)).toEqual([])
    const { messages, repairs } = format.repair(history)
    expect([messages[1], repairs]).toEqual([history[1], []])
  })

  test('a step that nobody answered goes, one that is answered in part is completed', () => {
    const open = part('b', 'input-available')
    expect(format.validate([asked, answer(step, done, step, open)])).toEqual([
      'messages[1] has no result for run (call b).',
    ])
    expect(format.repair([asked, answer(step, done, step, open)])).toEqual({
      messages: [asked, answer(step, done)],
      repairs: [{ kind: 'dropped-turn', note: 'Dropped from messages[1]: no result for run (call b).' }],
    })
    expect(format.repair([asked, answer(step, open)]).messages).toEqual([asked])
    const { messages } = format.repair([asked, answer(step, done, open)])
    expect(messages[1]).toEqual(answer(step, done, { ...open, state: 'output-error', errorText: cancelledText }))
    expect(format.validate(messages)).toEqual([])
  })

  test('have a cue of their own kind, once', () => {
    const words = (label: string) => resumeCue({ label, patchNotes: null })
    const once = format.withCue([asked], words('one'))
    expect(once[1]).toEqual({ id: 'rewind-cue', role: 'system', parts: [{ type: 'text', text: words('one') }] })
    expect(format.withCue(once, words('two')).filter(format.isCue)).toHaveLength(1)
  })

  test('are said in other formats as the turns and results that they stand for', () => {
    const { messages, notes } = convertMessages([asked, answer(step, done, step, { type: 'text', text: 'fine' })], {
      from: 'vercel',
      to: 'openai',
    })
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages[2]).toEqual({ role: 'tool', tool_call_id: 'a', content: 'ok' })
    expect(notes).toEqual([])
  })
})
