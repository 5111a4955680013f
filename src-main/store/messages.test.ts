import { statSync } from 'node:fs'
import SQLite from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../contract/index.ts'
import { connect } from './database.ts'
import { storeWith } from './store.fixture.ts'
import { storeOver } from './store.ts'

/** Put together field by field: assigning `__proto__` would give the message another prototype instead of that field. */
const message: fc.Arbitrary<Message> = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom('user', 'assistant', 'tool'), fc.boolean())
  .map(([fields, role, roleFirst]) => {
    const rest = Object.entries(fields).filter(([key]) => key !== 'role')
    const own: [string, unknown] = ['role', role]
    return Object.fromEntries(roleFirst ? [own, ...rest] : [...rest, own]) as Message
  })

const say = (content: string): Message => ({ role: 'user', content })

/** What the file holds, counted behind the store's back. */
const rows = (file: string, table: 'nodes' | 'payloads'): unknown => {
  const db = new SQLite(file, { readonly: true })
  try {
    return db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()
  } finally {
    db.close()
  }
}

describe('messages', () => {
  it('come back with every field, in its order, whatever they hold', () => {
    const { store } = storeWith()
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
        const node = store.messages.save(messages)
        // Text, not toEqual: that would forgive another order of keys.
        expect(JSON.stringify(store.messages.load(node))).toBe(JSON.stringify(messages))
        expect(store.messages.count(node)).toBe(messages.length)
      }),
    )
  })

  it('are found again from any history that was ever saved, however they share their beginnings', () => {
    const { store } = storeWith()
    const few = fc.array(fc.constantFrom(say('a'), say('b'), say('c')), { maxLength: 40 })
    fc.assert(
      fc.property(fc.array(few, { maxLength: 6 }), (histories) => {
        const nodes = histories.map((history) => store.messages.save(history))
        expect(nodes.map((node) => store.messages.load(node))).toEqual(histories)
      }),
    )
  })

  it('store only what is new of a history whose beginning is known', () => {
    const { store, file } = storeWith()
    const long = Array.from({ length: 100 }, (_, n) => say(`message ${n}`))
    store.messages.save(long)
    store.messages.save([...long, say('one more')])
    expect([rows(file, 'nodes'), rows(file, 'payloads')]).toEqual([101, 101])
    const compacted = [say('a summary'), ...long.slice(90)]
    store.messages.save(compacted)
    expect([rows(file, 'nodes'), rows(file, 'payloads')]).toEqual([112, 102])
    expect(store.messages.save(long)).toBe(store.messages.save([...long]))
  })

  it('tell histories apart that differ in one early message', () => {
    const { store } = storeWith()
    const tail = [say('same'), say('end')]
    expect(store.messages.save([say('a'), ...tail])).not.toBe(store.messages.save([say('b'), ...tail]))
  })

  it('know the empty history as null', () => {
    const { store } = storeWith()
    expect(store.messages.save([])).toBeNull()
    expect(store.messages.load(null)).toEqual([])
    expect(store.messages.count(null)).toBe(0)
    expect(() => store.messages.load(404)).toThrow(/no history 404/)
    expect(() => store.messages.count(404)).toThrow(/no history 404/)
  })

  it('raise the revision with every change of a conversation, each conversation for itself', () => {
    const { store } = storeWith('s1')
    const node = store.messages.save([say('hi')])
    const set = (conversation: string, to: number | null) =>
      store.messages.setHead('s1', { conversation, node: to, format: 'anthropic' })
    expect(store.messages.head('s1', 'main')).toMatchObject({ node: null, revision: 0 })
    expect(set('reviewer', node)).toBe(1)
    expect(store.messages.heads('s1').map(({ conversation }) => conversation)).toEqual(['main', 'reviewer'])
    expect([set('main', node), set('main', null), set('analyst', node)]).toEqual([1, 2, 1])
    expect(store.messages.head('s1', 'main')).toEqual({
      conversation: 'main',
      node: null,
      format: 'anthropic',
      revision: 2,
    })
    expect(store.messages.heads('s1').map(({ conversation }) => conversation)).toEqual(['main', 'analyst', 'reviewer'])
  })

  it('go on from a history that is remembered as from one that is read, whoever changes what they gave', () => {
    const { store, file } = storeWith()
    const history = fc.array(message, { maxLength: 8 })
    fc.assert(
      fc.property(history, fc.array(fc.tuple(fc.nat(8), history), { maxLength: 6 }), (first, edits) => {
        let given = first
        let node = store.messages.save(given)
        const other = storeOver(connect(file))
        for (const [keep, more] of edits) {
          given = [...given.slice(0, keep), ...more]
          const text = JSON.stringify(given)
          const common = store.messages.common(given, node)
          node = store.messages.save(given, node)
          expect(JSON.stringify(store.messages.load(node))).toBe(text)
          expect(common).toBeGreaterThanOrEqual(Math.min(keep, given.length - more.length))
          // Without a hint, and by somebody who remembers nothing: the same.
          expect(other.messages.save(given)).toBe(node)
          given = structuredClone(given)
          for (const one of given) if ('a' in one) one.a = 'changed behind its back'
          given = JSON.parse(text) as Message[]
        }
        other.close()
      }),
      {
        numRuns: 30,
        examples: [
          [
            [
              Object.fromEntries([
                ['role', 'user'],
                ['__proto__', []],
              ]) as Message,
            ],
            [[1, []]],
          ],
        ],
      },
    )
  })

  it('forget what was taken back', () => {
    const { store } = storeWith()
    const base = store.messages.save([say('a')])
    expect(() =>
      store.transaction(() => {
        store.messages.save([say('a'), say('lost'), say('lost too')], base)
        throw new Error('broken off')
      }),
    ).toThrow('broken off')
    const node = store.messages.save([say('a'), say('b'), say('c')], base)
    expect(store.messages.load(node)).toEqual([say('a'), say('b'), say('c')])
    const other = store.messages.save([say('a'), say('lost'), say('lost too')], node)
    expect(store.messages.load(other)).toEqual([say('a'), say('lost'), say('lost too')])
  })

  it('keep what no schema would: lone surrogates, __proto__, deep nesting, numbers that look alike', () => {
    const { store } = storeWith()
    const deep = `${'{"a":'.repeat(900)}1${'}'.repeat(900)}`
    const odd = JSON.parse(
      `[{"role":"user","content":"\\ud800 \\udc00\\u0000","__proto__":{"polluted":true},"n":[1e21,1.0,-0,0.1]},{"role":"user","content":null,"deep":${deep}}]`,
    ) as Message[]
    const node = store.messages.save(odd)
    const again = store.messages.save([...odd, say('more')], node)
    const back = store.messages.load(again)
    expect(JSON.stringify(back.slice(0, 2))).toBe(JSON.stringify(odd))
    expect(Object.keys(back[0] ?? {})).toContain('__proto__')
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('take a long history in one go and one more message without storing it again', () => {
    const { store, file } = storeWith()
    const long = Array.from({ length: 10_000 }, (_, n) => say(`${n} ${'x'.repeat(300)}`))
    store.messages.save(long)
    const node = store.messages.save([...long, say('one more')])
    expect(rows(file, 'nodes')).toBe(10_001)
    expect(store.messages.count(node)).toBe(10_001)
    expect(store.messages.load(node).at(-1)).toEqual(say('one more'))
  })

  it('cost less than twice what they hold: 10,000 messages in 500 syncs, compacted five times', () => {
    const { store, file } = storeWith('s1')
    const size = () => {
      const db = new SQLite(file)
      db.pragma('wal_checkpoint(TRUNCATE)')
      db.close()
      return statSync(file).size
    }
    const before = size()
    const distinct = new Map<string, number>()
    let history: Message[] = []
    let node: number | null = null
    for (let sync = 0; sync < 500; sync++) {
      // A compaction: a summary, and the last twenty messages as they were.
      if (sync > 0 && sync % 90 === 0) history = [say(`summary ${sync}: ${'s'.repeat(400)}`), ...history.slice(-20)]
      for (let more = 0; more < 20; more++) history.push(say(`message ${sync * 20 + more} ${'x'.repeat(150)}`))
      for (const one of history) distinct.set(JSON.stringify(one), Buffer.byteLength(JSON.stringify(one)))
      node = store.messages.save(history, node)
      store.messages.setHead('s1', { conversation: 'main', node, format: 'openai' })
    }
    const payload = [...distinct.values()].reduce((sum, bytes) => sum + bytes, 0)
    expect(distinct.size).toBe(10_005)
    expect(size() - before).toBeLessThan(2 * payload)
    expect(store.messages.load(node)).toEqual(history)
  })
})
