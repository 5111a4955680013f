import { describe, expect, test } from 'vitest'
import { SessionOptions } from './api.ts'

describe('the name of a new session', () => {
  const named = (name: string) => SessionOptions.safeParse({ name, workspace: '/w' })

  test.each(['agent', 'rewind_sandbox', 'fix the login', 'ünï-日本.2', 'x'.repeat(64)])('may be %j', (name) => {
    expect(named(name).data?.name).toBe(name)
  })

  test.each(['', '  ', 'x'.repeat(65), 'a\nb', '\u001b[2J', 'a/b', 'a\\b', 'a\u202eb', 'a\u200bb', '..\u0000'])(
    'cannot be %j',
    (name) => {
      expect(named(name).error?.issues).toMatchObject([
        { path: ['name'], message: expect.stringContaining('1 to 64 characters') },
      ])
    },
  )
})
