/** A session's conversations: several, each in its own format, kept with the files and taken back with them. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Message, SessionRewoundError, storedFormats } from '../contract/index.ts'
import { cancelledText } from '../memory/index.ts'
import type { Session, SessionManager } from './index.ts'
import { begin, checkpoint, rollback, testHome, write } from './testing.ts'

const place = testHome()
let manager: SessionManager
let close: () => Promise<void>
let session: Session
let next = 0

beforeAll(async () => {
  ;({ manager, close } = await place.open())
})
afterAll(async () => {
  await close()
  await place.remove()
})

/** A session of its own, in a folder of its own. */
async function fresh(): Promise<Session> {
  const workspace = join(place.folder, `project-${next++}`)
  mkdirSync(workspace)
  session = await begin(manager, workspace, `talk-${next}`)
  return session
}

const user = (content: string): Message => ({ role: 'user', content })
const calling = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_use', id, name: 'run', input: {} })),
})
const result = (id: string): Message => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }],
})
const sync = (messages: unknown, more: Partial<Parameters<Session['sync']>[0]> = {}) =>
  session.sync({ messages: messages as Message[], revision: null, ...more })
const now = (conversation = 'main') => session.conversation({ at: 'now', conversation })

describe('conversations', () => {
  test('a point that holds words alone: the history goes on in the format that was spoken since', async () => {
    await fresh()
    await sync([user('go')])
    await checkpoint(session, 'stable')
    await sync([user('go'), calling('1'), result('1')])
    expect(now().format).toBe('anthropic')
    const { messages, format } = await rollback(session, 'stable')
    expect(format).toBe('anthropic')
    expect(messages.map(({ role }) => role)).toEqual(['user'])
    expect(now().problems).toEqual([])
    await session.undo()
    expect(now()).toMatchObject({ format: 'anthropic', messages: [user('go'), calling('1'), result('1')] })
  })

  test('what an agent says before a tool call does not come back over a rewind that it has not heard of', async () => {
    await fresh()
    await write(session, 'a', '1')
    await checkpoint(session, 'stable', [user('go')])
    await write(session, 'a', '2')
    const { epoch } = session.timeline()
    const moving = rollback(session, 'stable')
    const late = { epoch, messages: [user('go'), user('undone')], tool: null }
    await expect(session.onToolCall(late)).rejects.toBeInstanceOf(SessionRewoundError)
    await moving
    expect(now().messages).not.toContainEqual(user('undone'))
    await expect(session.onToolResult({ ...late, error: 'boom' })).rejects.toBeInstanceOf(SessionRewoundError)
  })

  test('a point holds them all, and a rewind restores and mends each in its own format', async () => {
    await fresh()
    await write(session, 'a.txt', '1')
    await sync([user('go'), calling('1')], { format: 'anthropic' })
    const reviewed = [
      user('review'),
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'ls', input: {} }] },
    ]
    await sync(reviewed, { conversation: 'reviewer', format: 'vercel' })
    const point = await checkpoint(session, 'stable')
    expect(point.messages).toBe(4)

    await write(session, 'a.txt', '2')
    await sync([user('compacted'), user('gone on')], { format: 'anthropic' })
    await sync([user('review'), user('later')], { conversation: 'reviewer' })
    await sync([user('new here')], { conversation: 'late', format: 'openai-responses' })
    expect(session.conversations({ at: 'now' }).map(({ conversation, format }) => [conversation, format])).toEqual([
      ['main', 'anthropic'],
      ['late', 'openai-responses'],
      ['reviewer', 'vercel'],
    ])
    const preview = await session.preview({ to: 'stable' })
    expect(preview.messagesLost).toBe(1)

    const done = await rollback(session, 'stable')
    expect(done).toMatchObject({ format: 'anthropic', notes: [] })
    expect(done.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'go' },
          { type: 'text', text: expect.stringContaining('stable') },
        ],
      },
    ])
    expect(done.repairs.map(({ note }) => note)).toEqual([
      'Dropped messages[1]: no result for run (call 1).',
      'reviewer: Dropped messages[1]: no result for ls (call a).',
    ])
    const others = new Map(done.conversations.map((one) => [one.conversation, one]))
    expect(others.get('reviewer')?.messages).toEqual([
      user('review'),
      { role: 'system', content: expect.stringContaining('[REWIND]') },
    ])
    // Nothing was said there yet when the point was taken.
    expect(others.get('late')).toMatchObject({ messages: [], format: 'openai-responses' })
    expect(session.conversations({ at: 'stable' }).map(({ conversation, count }) => [conversation, count])).toEqual([
      ['main', 2],
      ['reviewer', 2],
    ])
    expect(now().problems).toEqual([])
    expect(now('reviewer').problems).toEqual([])
    const repairs = session.ledger({ checkpoint: null, type: 'repair', status: null })
    expect(repairs.map(({ notes }) => notes)).toEqual(done.repairs.map(({ note }) => note))

    await session.undo()
    expect(now().messages).toEqual([user('compacted'), user('gone on')])
    expect(now('reviewer').messages).toEqual([user('review'), user('later')])
    expect(now('late').messages).toEqual([user('new here')])
  })

  test('a turn that is answered in part is completed, and comes back as it was kept otherwise', async () => {
    await fresh()
    const history = [user('go'), calling('1', '2'), result('2')]
    await sync(history, { format: 'anthropic' })
    await checkpoint(session, 'half')
    await sync([...history, result('1')])
    const { messages } = await rollback(session, 'half')
    expect(messages.slice(0, 2)).toEqual(history.slice(0, 2))
    expect(messages[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: '2', content: 'ok' },
      { type: 'tool_result', tool_use_id: '1', content: cancelledText, is_error: true },
      { type: 'text', text: expect.stringContaining('[REWIND]') },
    ])
    expect(session.conversation({ at: 'half' }).messages).toEqual(history)
  })

  test('a rewind to before anything was said speaks the language of whoever speaks now', async () => {
    await fresh()
    await sync([user('go'), calling('1')], { format: 'anthropic' })
    const { messages, format } = await rollback(session, 'base')
    expect(format).toBe('anthropic')
    expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: expect.stringContaining('base') }] }])
  })

  test('are asked for in any format, with a note of what it cannot say, and stay as they are', async () => {
    await fresh()
    const history = [
      user('go'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'text', text: 'done' },
        ],
      },
    ]
    await sync(history)
    const asked = session.conversation({ at: 'now', format: 'dict' })
    expect(asked).toMatchObject({ format: 'openai', messages: [user('go'), { role: 'assistant', content: 'done' }] })
    expect(asked.notes).toEqual([expect.stringContaining('messages[1]: reasoning cannot be expressed')])
    expect(now()).toMatchObject({ format: 'anthropic', messages: history, notes: [] })
    const validity = session.validity({ at: 'now', conversation: 'main' })
    expect(validity.map(({ format }) => format).sort()).toEqual([...storedFormats].sort())
    expect(validity.every(({ problems }) => problems.length === 0)).toBe(true)
    await checkpoint(session, 'asked')
    await write(session, 'b.txt', '1')
    expect(await session.rollback({ to: 'asked', only: null, patchNotes: null, format: 'openai' })).toMatchObject({
      format: 'openai',
      messages: [user('go'), { role: 'assistant', content: 'done' }, { role: 'system' }],
      notes: [expect.stringContaining('reasoning')],
    })
    expect(now().format).toBe('anthropic')
  })

  test('what is no history is refused by index, and nothing is changed', async () => {
    await fresh()
    const before = await sync([user('kept')])
    const deep = JSON.parse(`{"role":"user","content":${'['.repeat(5000)}${']'.repeat(5000)}}`) as Message
    for (const [messages, index] of [
      ['a text', undefined],
      [[user('a'), { role: 'bot' }], 1],
      [[user('a'), null], 1],
      [[deep], 0],
      [[user('a'), { role: 'user', content: 1n }], 1],
      [[user('a'), { type: 'function_call_output' }, { role: 'tool', tool_call_id: '1', content: '' }], 2],
    ] as const)
      await expect(sync(messages)).rejects.toMatchObject({
        code: 'INVALID_MESSAGES',
        data: index === undefined ? {} : { index },
      })
    await expect(sync([{ role: 'system', content: 'x' }], { format: 'anthropic' })).rejects.toMatchObject({
      message: expect.stringContaining('parameter of the request'),
      nextStep: expect.stringContaining('user or assistant'),
    })
    await expect(checkpoint(session, 'no', 'text' as unknown as Message[])).rejects.toMatchObject({
      code: 'INVALID_MESSAGES',
    })
    expect(now()).toMatchObject({ messages: [user('kept')], revision: before.revision })
    expect(session.timeline().points).toHaveLength(1)
  })

  test('a stale revision or an epoch of before the last rewind is refused with the history to use, each key for itself', async () => {
    await fresh()
    const first = await sync([user('1')], { conversation: 'sub' })
    const second = await sync([user('1'), user('2')], { conversation: 'sub', revision: first.revision })
    await sync([user('main')], { revision: 0 })
    const refused = await sync([user('mine')], { conversation: 'sub', revision: first.revision }).catch(
      (error) => error,
    )
    expect(refused).toBeInstanceOf(SessionRewoundError)
    expect(refused.data).toMatchObject({
      conversation: 'sub',
      revision: second.revision,
      format: 'openai',
      messages: [user('1'), user('2')],
    })
    await write(session, 'c.txt', '1')
    await checkpoint(session, 'here')
    await write(session, 'c.txt', '2')
    await rollback(session, 'here')
    await expect(sync([user('old')], { epoch: 0 })).rejects.toMatchObject({
      code: 'SESSION_REWOUND',
      data: { epoch: 1, messages: now().messages },
    })
  })

  test('an empty list empties one conversation, and no point', async () => {
    await fresh()
    await sync([user('main')])
    await sync([user('sub')], { conversation: 'sub' })
    await checkpoint(session, 'both')
    expect(await sync([], { conversation: 'sub' })).toMatchObject({ count: 0, format: 'openai' })
    expect([now().messages.length, now('sub').messages.length]).toEqual([1, 0])
    expect(session.conversation({ at: 'both', conversation: 'sub' }).messages).toEqual([user('sub')])
  })

  test('are kept as they went in: lone surrogates, __proto__, 50 MB', async () => {
    await fresh()
    const odd = JSON.parse(
      '[{"role":"user","content":"\\ud800","__proto__":{"a":1},"z":1,"b":2},{"role":"user","content":null}]',
    ) as Message[]
    await sync(odd)
    expect(JSON.stringify(now().messages)).toBe(JSON.stringify(odd))
    const large = [user('x'.repeat(50_000_000))]
    expect(await sync([...odd, ...large])).toMatchObject({ count: 3 })
    expect(now().messages[2]).toEqual(large[0])
  })
})
