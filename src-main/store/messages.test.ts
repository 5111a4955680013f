import SQLite from 'better-sqlite3'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../contract/index.ts'
import { storeWith } from './store.fixture.ts'

const message: fc.Arbitrary<Message> = fc
  .tuple(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom('user', 'assistant', 'tool'), fc.boolean())
  .map(([fields, role, roleFirst]) => Object.assign(roleFirst ? { role } : {}, fields, { role }))

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
    expect(() => store.messages.load('nowhere')).toThrow(/no history nowhere/)
    expect(() => store.messages.count('nowhere')).toThrow(/no history nowhere/)
  })

  it('raise the revision with every change of a conversation, each conversation for itself', () => {
    const { store } = storeWith('s1')
    const node = store.messages.save([say('hi')])
    expect(store.messages.head('s1', 'main')).toEqual({ node: null, revision: 0 })
    expect(store.messages.setHead('s1', 'main', node)).toBe(1)
    expect(store.messages.setHead('s1', 'main', null)).toBe(2)
    expect(store.messages.setHead('s1', 'reviewer', node)).toBe(1)
    expect(store.messages.head('s1', 'main')).toEqual({ node: null, revision: 2 })
    expect(store.messages.head('s1', 'reviewer')).toEqual({ node, revision: 1 })
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
})
