/**
 * A table described once, by a zod schema whose codecs say how each field is stored. The same schema writes a record,
 * changes it, and judges it as it is read, so a damaged one is named where it is met instead of travelling on.
 */
import type { Database } from 'better-sqlite3'
import { z } from 'zod'
import { Message, StoreUnavailableError } from '../contract/index.ts'

/** A date, as milliseconds since 1970. */
export const time = z.codec(z.number(), z.date(), {
  decode: (ms) => new Date(ms),
  encode: (date) => date.getTime(),
})

/** A boolean, as 0 or 1. */
export const flag = z.codec(z.literal([0, 1]), z.boolean(), {
  decode: (bit) => bit === 1,
  encode: (yes) => (yes ? 1 : 0),
})

/** Anything that JSON can hold, as its text. */
export const json = <S extends z.ZodType>(schema: S) =>
  z.codec(z.string(), schema, {
    decode: (text, context) => {
      try {
        return JSON.parse(text)
      } catch {
        context.issues.push({ code: 'invalid_format', format: 'json', input: text, message: 'is not JSON' })
        return z.NEVER
      }
    },
    encode: (value) => JSON.stringify(value),
  })

/** A message that is judged but never rebuilt: parsing it into a new object would move its keys. */
export const messageAsGiven = z.custom<Message>((value) => Message.safeParse(value).success, 'is not a message')

/**
 * @param keys the columns that tell one record from all others
 */
export function table<S extends z.ZodObject>(
  db: Database,
  name: string,
  schema: S,
  keys: readonly (keyof z.output<S> & string)[],
) {
  type Row = z.output<S>
  const columns = Object.keys(schema.shape)
  const where = keys.map((key) => `${key} = ?`).join(' AND ')
  const insert = db.prepare(
    `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
  )
  const select = db.prepare<string[]>(`SELECT * FROM ${name} WHERE ${where}`)
  const patchSchema = schema.partial()

  /** @throws StoreUnavailableError for a record that is not what the schema says */
  const read = (row: unknown): Row => {
    const parsed = z.safeDecode(schema, row as z.input<S>)
    if (parsed.success) return parsed.data
    const values = row as Record<string, unknown>
    const record = keys.map((key) => String(values[key])).join(' ')
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
    throw new StoreUnavailableError(`The record ${record} of ${name} in ${db.name} is damaged (${issues}).`, {
      nextStep: 'Put a copy of the file back, or leave this session aside; all other records can be used.',
      data: { file: db.name, table: name, record },
    })
  }

  const get = (...key: string[]): Row | undefined => {
    const row = select.get(...key)
    return row === undefined ? undefined : read(row)
  }

  return {
    read,
    get,
    insert(row: Row): void {
      insert.run(z.encode(schema, row))
    },
    /** Changes the fields that `patch` has. @returns the record as it is now; undefined where there is none */
    update(key: string[], patch: Partial<Row>): Row | undefined {
      const stored: Record<string, unknown> = z.encode(patchSchema, patch as z.output<typeof patchSchema>)
      const changed = Object.keys(stored)
      if (changed.length === 0) return get(...key)
      const sets = changed.map((column) => `${column} = ?`).join(', ')
      const row = db
        .prepare(`UPDATE ${name} SET ${sets} WHERE ${where} RETURNING *`)
        .get(...changed.map((column) => stored[column]), ...key)
      return row === undefined ? undefined : read(row)
    },
  }
}
