/** Conversations over the SDK: formats, keys, revisions, and histories that are none. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import {
  convertMessages,
  InvalidMessagesError,
  InvalidOptionError,
  type RewindSession,
  SessionRewoundError,
  session,
} from './index.ts'
import { type SdkHome, sdkHome } from './testing.ts'

const openai = [
  { role: 'user', content: 'List the files' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'a b' },
]
const anthropic = [
  { role: 'user', content: 'List the files' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'ls', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a b' }] },
]

describe('convertMessages', () => {
  test('says the same in another format, and leaves alone what is in it', () => {
    const { messages } = convertMessages(openai, { to: 'anthropic' })
    expect(messages).toMatchObject(anthropic)
    expect(convertMessages(openai, { from: 'dict', to: 'openai' }).messages).toEqual(openai)
  })

  test('refuses what is no history, and formats that there are not', () => {
    expect(() => convertMessages('hello' as never, { to: 'openai' })).toThrow(InvalidMessagesError)
    expect(() => convertMessages([{ role: 'alien', content: '' }], { to: 'openai' })).toThrow(InvalidMessagesError)
    expect(() => convertMessages(openai, { to: 'auto' as never })).toThrow(InvalidOptionError)
    expect(() => convertMessages(openai, {} as never)).toThrow(InvalidOptionError)
  })
})

suiteNeeding(['local'], 'conversations over the SDK', () => {
  let home: SdkHome
  let it: RewindSession
  beforeAll(async () => {
    home = sdkHome()
    it = await session({ name: 'talk', workspace: home.folder('talk') })
  })
  afterAll(() => home.remove())

  test('come back equal, or in another format', async () => {
    expect(await it.syncMemory(openai)).toEqual({ revision: expect.any(Number), format: 'openai' })
    expect(await it.getMessages()).toEqual(openai)
    expect(await it.getMessages({ format: 'anthropic' })).toMatchObject(anthropic)
    expect((await it.syncMemory(anthropic, { format: 'anthropic' })).format).toBe('anthropic')
    expect(await it.getMessages({ format: 'dict' })).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool' },
    ])
  })

  test('a sub-agent has its own, and a point holds all', async () => {
    await it.syncMemory(openai)
    await it.syncMemory([{ role: 'user', content: 'help' }], { conversation: 'helper' })
    await it.checkpoint('both')
    await it.onToolCall([{ role: 'user', content: 'more' }], 'ls', { conversation: 'helper' })
    await it.writeFile('a', 'x')
    expect((await it.rollback('both', { format: 'anthropic' })).slice(0, 2)).toMatchObject(anthropic.slice(0, 2))
    expect((await it.getMessages({ conversation: 'helper' }))[0]).toEqual({ role: 'user', content: 'help' })
    expect(await it.getMessages({ at: 'both' })).toEqual(openai)
  })

  test('one that was changed since is not overwritten', async () => {
    const { revision } = await it.syncMemory([{ role: 'user', content: 'one' }])
    await it.syncMemory([{ role: 'user', content: 'two' }])
    const error = await it
      .syncMemory([{ role: 'user', content: 'three' }], { revision })
      .catch((error: unknown) => error)
    expect(error).toBeInstanceOf(SessionRewoundError)
    expect(error).toMatchObject({ data: { messages: [{ role: 'user', content: 'two' }] } })
    expect((error as Error).message).not.toContain('[REWIND]')
    expect(await it.getMessages()).toEqual([{ role: 'user', content: 'two' }])
  })

  test('what is none is refused, and nothing changes', async () => {
    await it.syncMemory(openai)
    for (const bad of ['hello', null, { role: 'user' }, [1], [{ role: 'alien', content: 'x' }]]) {
      await expect(it.syncMemory(bad as never)).rejects.toBeInstanceOf(InvalidMessagesError)
      if (bad === null) continue
      await expect(it.checkpoint('never', { messages: bad as never })).rejects.toBeInstanceOf(InvalidMessagesError)
      await expect(it.onToolCall(bad as never)).rejects.toBeInstanceOf(InvalidMessagesError)
      await expect(it.onToolResult(bad as never)).rejects.toBeInstanceOf(InvalidMessagesError)
    }
    await expect(it.getMessages({ format: 'xml' as never })).rejects.toThrow("'anthropic'")
    await expect(it.syncMemory(openai, { format: 'xml' as never })).rejects.toBeInstanceOf(InvalidOptionError)
    await expect(it.syncMemory(openai, { conversation: 'a\nb' })).rejects.toBeInstanceOf(InvalidOptionError)
    await expect(it.syncMemory(openai, { revision: -1 })).rejects.toBeInstanceOf(InvalidOptionError)
    expect(await it.getMessages()).toEqual(openai)
    expect(await it.syncMemory([])).toMatchObject({ revision: expect.any(Number) })
    expect(await it.getMessages()).toEqual([])
  })
})
