/**
 * Conversations. A message is stored once by its content; a history is a chain of nodes, each a message after another
 * node, so equal beginnings are the same nodes: a snapshot is one number, and saving a history that is known up to its last
 * message stores that message alone.
 */
import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { InternalError, MAIN, Message, type StoredFormat, StoreUnavailableError } from '../contract/index.ts'
import { atomic } from './database.ts'
import type { Pinned } from './points.ts'
import { sameJson } from './same-json.ts'

/** Histories that were worked with last, so that one more message of a long one needs no reading of the long one. */
const REMEMBERED = 16
/** Characters of JSON in all of them. */
const REMEMBERED_CHARACTERS = 16_000_000

/** A history with copies of its own: whoever gave the messages may go on changing them. */
interface Remembered {
  nodes: number[]
  messages: unknown[]
  characters: number
}

/** A conversation as it stands. */
export interface ConversationHead extends Pinned {
  /** Raised by every change; 0 where there was none. */
  revision: number
}

export function messageRepository(db: Database) {
  const depth = db.prepare<[number], number>('SELECT depth FROM nodes WHERE id = ?').pluck()
  const payloadOf = db.prepare<[Buffer], number>('SELECT id FROM payloads WHERE hash = ?').pluck()
  const addPayload = db
    .prepare<[Buffer, string], number>('INSERT INTO payloads (hash, json) VALUES (?, ?) RETURNING id')
    .pluck()
  const nodeAfter = db
    .prepare<[number, number], number>('SELECT id FROM nodes WHERE ifnull(parent, 0) = ? AND payload = ?')
    .pluck()
  const addNode = db
    .prepare<[number | null, number, number], number>(
      'INSERT INTO nodes (parent, payload, depth) VALUES (?, ?, ?) RETURNING id',
    )
    .pluck()
  const line = db.prepare<[number], { id: number; json: string }>(
    `WITH RECURSIVE line (id, parent, payload, depth) AS (
       SELECT id, parent, payload, depth FROM nodes WHERE id = ?
       UNION ALL
       SELECT nodes.id, nodes.parent, nodes.payload, nodes.depth FROM line JOIN nodes ON nodes.id = line.parent
     ) SELECT line.id, json FROM line JOIN payloads ON payloads.id = line.payload ORDER BY line.depth`,
  )
  const heads = db.prepare<[string], ConversationHead>(
    'SELECT name AS conversation, node, format, revision FROM conversations WHERE session = ? ORDER BY name',
  )
  const head = db.prepare<[string, string], ConversationHead>(
    'SELECT name AS conversation, node, format, revision FROM conversations WHERE session = ? AND name = ?',
  )
  const setHead = db
    .prepare<[string, string, number | null, StoredFormat], number>(
      `INSERT INTO conversations (session, name, node, format, revision) VALUES (?, ?, ?, ?, 1)
       ON CONFLICT DO UPDATE SET node = excluded.node, format = excluded.format, revision = revision + 1
       RETURNING revision`,
    )
    .pluck()

  const missing = (node: number) => new InternalError(`The store holds no history ${node}.`, { data: { node } })

  const parse = (json: string): Message => {
    const value: unknown = JSON.parse(json)
    // Judged only: a parsed copy would have its keys in another order.
    if (Message.safeParse(value).success) return value as Message
    throw new StoreUnavailableError(`A message in ${db.name} is damaged.`, {
      nextStep: 'Go back to a point that still holds its history.',
      data: { file: db.name, table: 'payloads' },
    })
  }

  /** By the last node; the one that was used last comes last. */
  const remembered = new Map<number, Remembered>()

  function remember(history: Remembered): void {
    const last = history.nodes.at(-1)
    if (last === undefined || history.characters > REMEMBERED_CHARACTERS) return
    remembered.delete(last)
    remembered.set(last, history)
    let characters = 0
    for (const { characters: more } of remembered.values()) characters += more
    for (const [node, { characters: less }] of remembered) {
      if (remembered.size <= REMEMBERED && characters <= REMEMBERED_CHARACTERS) break
      remembered.delete(node)
      characters -= less
    }
  }

  function recall(node: number): Remembered {
    const known = remembered.get(node)
    if (known) return known
    const rows = line.all(node)
    if (rows.length === 0) throw missing(node)
    const history: Remembered = {
      nodes: rows.map(({ id }) => id),
      messages: rows.map(({ json }) => parse(json)),
      characters: rows.reduce((sum, { json }) => sum + json.length, 0),
    }
    remember(history)
    return history
  }

  function commonLength(messages: readonly Message[], near: number | null): number {
    if (near === null || messages.length === 0) return 0
    const { messages: known } = recall(near)
    const most = Math.min(known.length, messages.length)
    let common = 0
    while (common < most && sameJson(messages[common], known[common])) common++
    return common
  }

  return {
    /** How many messages at the beginning are those of the history that ends in `near`. */
    common: commonLength,
    /**
     * @param near the end of a history that this one probably goes on from: saves looking up what is in it
     * @param known how many messages at its beginning are that history's, where that was found already
     * @returns the node of the last message; null for an empty history
     */
    save: atomic(db, (messages: readonly Message[], near: number | null = null, known?: number): number | null => {
      const common = known ?? commonLength(messages, near)
      const base = near === null || common === 0 ? { nodes: [], messages: [], characters: 0 } : recall(near)
      const goesOn = common === base.nodes.length
      const history: Remembered = goesOn
        ? base
        : {
            nodes: base.nodes.slice(0, common),
            messages: base.messages.slice(0, common),
            characters: base.characters,
          }
      if (goesOn && near !== null) remembered.delete(near)
      for (const message of messages.slice(common)) {
        const json = JSON.stringify(message)
        const key = hash('sha256', json, 'buffer')
        const payload = payloadOf.get(key) ?? addPayload.get(key, json) ?? 0
        const parent = history.nodes.at(-1) ?? null
        const node = nodeAfter.get(parent ?? 0, payload) ?? addNode.get(parent, payload, history.nodes.length + 1) ?? 0
        history.nodes.push(node)
        history.messages.push(JSON.parse(json))
        history.characters += json.length
      }
      remember(history)
      return history.nodes.at(-1) ?? null
    }),
    /** The whole history that ends in a node, every message as it was given. @throws InternalError (no such node) */
    load(node: number | null): Message[] {
      if (node === null) return []
      const messages = line.all(node).map(({ json }) => parse(json))
      if (messages.length === 0) throw missing(node)
      return messages
    },
    /** Length of the history that ends in a node. @throws InternalError (no such node) */
    count(node: number | null): number {
      if (node === null) return 0
      const count = depth.get(node)
      if (count === undefined) throw missing(node)
      return count
    },
    /** Every conversation of a session, `main` first, which there always is. */
    heads(session: string): ConversationHead[] {
      const all = heads.all(session)
      const main = all.find(({ conversation }) => conversation === MAIN) ?? nothing(MAIN)
      return [main, ...all.filter(({ conversation }) => conversation !== MAIN)]
    },
    head: (session: string, conversation: string): ConversationHead =>
      head.get(session, conversation) ?? nothing(conversation),
    /** @returns the conversation's new revision */
    setHead: (session: string, { conversation, node, format }: Pinned): number =>
      setHead.get(session, conversation, node, format) ?? 0,
    /** Nodes of work that was taken back may come to mean something else. */
    forget: (): void => remembered.clear(),
  }
}

const nothing = (conversation: string): ConversationHead => ({
  conversation,
  node: null,
  format: 'openai',
  revision: 0,
})
