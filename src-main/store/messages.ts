/**
 * Conversations. A message is stored once by its content; a history is a chain of nodes whose ids are hashes over
 * everything up to them, so equal beginnings are the same nodes: a snapshot is one id, and saving a history that is
 * known up to its last message stores that message alone.
 */
import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { InternalError, Message, StoreUnavailableError } from '../contract/index.ts'
import { atomic } from './database.ts'

const sha256 = (text: string): string => hash('sha256', text, 'hex')

interface Link {
  node: string
  json: string
}

/** The chain of a history: each id covers the message and all before it. */
function chainOf(messages: readonly Message[]): Link[] {
  let parent = ''
  return messages.map((message) => {
    const json = JSON.stringify(message)
    parent = sha256(`${parent}\n${json}`)
    return { node: parent, json }
  })
}

/** @param holds true up to some index and false from there on @returns that index */
function firstUnknown(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length]
  // The usual history is known up to its last message or two: look there before halving.
  for (let step = 1; high - step >= low; step *= 2) {
    const index = high - step
    if (!holds(index)) high = index
    else {
      low = index + 1
      break
    }
  }
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low
}

export function messageRepository(db: Database) {
  const known = db.prepare<[string], number>('SELECT 1 FROM nodes WHERE id = ?').pluck()
  const depth = db.prepare<[string], number>('SELECT depth FROM nodes WHERE id = ?').pluck()
  const addPayload = db.prepare('INSERT INTO payloads (hash, json) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const addNode = db.prepare('INSERT INTO nodes (id, parent, payload, depth) VALUES (?, ?, ?, ?)')
  const line = db
    .prepare<[string], string>(
      `WITH RECURSIVE line (parent, payload, depth) AS (
         SELECT parent, payload, depth FROM nodes WHERE id = ?
         UNION ALL
         SELECT nodes.parent, nodes.payload, nodes.depth FROM line JOIN nodes ON nodes.id = line.parent
       ) SELECT json FROM line JOIN payloads ON payloads.hash = line.payload ORDER BY depth`,
    )
    .pluck()
  const head = db.prepare<[string, string], { node: string | null; revision: number }>(
    'SELECT node, revision FROM conversations WHERE session = ? AND name = ?',
  )
  const setHead = db
    .prepare<[string, string, string | null], number>(
      `INSERT INTO conversations (session, name, node, revision) VALUES (?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET node = excluded.node, revision = revision + 1 RETURNING revision`,
    )
    .pluck()

  const parse = (json: string): Message => {
    const value: unknown = JSON.parse(json)
    // Judged only: the parsed copy would have its keys in another order.
    if (Message.safeParse(value).success) return value as Message
    throw new StoreUnavailableError(`A message in ${db.name} is damaged.`, {
      nextStep: 'Go back to a point that still holds its history.',
      data: { file: db.name, table: 'payloads' },
    })
  }

  return {
    /** @returns the node of the last message; null for an empty history */
    save: atomic(db, (messages: readonly Message[]): string | null => {
      const links = chainOf(messages)
      const fresh = firstUnknown(links.length, (index) => known.get(links[index]?.node ?? '') !== undefined)
      let parent = links[fresh - 1]?.node ?? null
      for (const [offset, { node, json }] of links.slice(fresh).entries()) {
        const payload = sha256(json)
        addPayload.run(payload, json)
        addNode.run(node, parent, payload, fresh + offset + 1)
        parent = node
      }
      return parent
    }),
    /** The whole history that ends in a node, every message as it was given. @throws InternalError (no such node) */
    load(node: string | null): Message[] {
      if (node === null) return []
      const messages = line.all(node).map(parse)
      if (messages.length === 0) throw new InternalError(`The store holds no history ${node}.`, { data: { node } })
      return messages
    },
    /** Length of the history that ends in a node. @throws InternalError (no such node) */
    count(node: string | null): number {
      if (node === null) return 0
      const count = depth.get(node)
      if (count === undefined) throw new InternalError(`The store holds no history ${node}.`, { data: { node } })
      return count
    },
    head: (session: string, conversation: string): { node: string | null; revision: number } =>
      head.get(session, conversation) ?? { node: null, revision: 0 },
    /** @returns the conversation's new revision */
    setHead: (session: string, conversation: string, node: string | null): number =>
      setHead.get(session, conversation, node) ?? 0,
  }
}
