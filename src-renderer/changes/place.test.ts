import { expect, it } from 'vitest'
import { sidesOf, withoutLog } from './place.ts'

it('knows the database of a log by its name, also one that is no text', () => {
  expect(withoutLog({ path: 'data/app.db-wal', rawPath: null })).toEqual({
    path: 'data/app.db',
    rawPath: null,
  })
  expect(withoutLog({ path: '\\xff-wal', rawPath: btoa('\xff-wal'), was: { path: 'old-wal', rawPath: null } })).toEqual(
    { path: '\\xff', rawPath: btoa('\xff'), was: { path: 'old', rawPath: null } },
  )
  expect(withoutLog({ path: 'app.log', rawPath: null })).toBeNull()
})

it('asks for the sides that there are', () => {
  const change = { path: 'a', rawPath: null, status: 'added', kind: 'file', before: null, after: 1 } as const
  expect(sidesOf({ session: 's', change, from: 'base', to: 'now', version: 0 }, { before: null, after: 0 })).toEqual({
    before: null,
    after: { session: 's', path: 'a', rawPath: null, at: 'now' },
  })
})

it('asks for a file that moved under the name that it had on each side', () => {
  const was = { path: 'old', rawPath: null, status: 'deleted', kind: 'file', before: 1, after: null } as const
  const change = { path: 'new', rawPath: null, status: 'modified', kind: 'file', before: 1, after: 1, was } as const
  const place = { session: 's', change, from: 'base', to: 'now', version: 0 }
  expect(sidesOf(place, { before: 1, after: 1 })).toEqual({
    before: { session: 's', path: 'old', rawPath: null, at: 'base' },
    after: { session: 's', path: 'new', rawPath: null, at: 'now' },
  })
})
