import { expect, test } from 'vitest'
import { environmentFor } from './agents.ts'

const env = { TERM: 'xterm', HOME: '/home/me', ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', AWS_SECRET_ACCESS_KEY: 's' }

test('a known agent is given its own keys, and nobody else’s', () => {
  expect(environmentFor('claude', env)).toEqual({
    variables: { TERM: 'xterm', ANTHROPIC_API_KEY: 'a' },
    own: ['ANTHROPIC_API_KEY'],
  })
  expect(environmentFor('codex', env).own).toEqual(['OPENAI_API_KEY'])
})

test('any other program is given no key at all', () => {
  expect(environmentFor('bash', env)).toEqual({ variables: { TERM: 'xterm' }, own: [] })
  expect(environmentFor('constructor', env).own).toEqual([])
})
