import { expect, it } from 'vitest'
import { sidesOf, withoutLog } from './place.ts'

it('knows the database of a log by its name, also one that is no text', () => {
  expect(withoutLog({ path: 'data/app.db-wal', rawPath: null })).toEqual({ path: 'data/app.db', rawPath: null })
  expect(withoutLog({ path: '\\xff-wal', rawPath: btoa('\xff-wal') })).toEqual({ path: '\\xff', rawPath: btoa('\xff') })
  expect(withoutLog({ path: 'app.log', rawPath: null })).toBeNull()
})

it('asks for the sides that there are', () => {
  const change = { path: 'a', rawPath: null, status: 'added', kind: 'file', before: null, after: 1 } as const
  expect(sidesOf({ session: 's', change, from: 'base', to: 'now', version: 0 }, { before: null, after: 0 })).toEqual({
    before: null,
    after: { session: 's', path: 'a', rawPath: null, at: 'now' },
  })
})
