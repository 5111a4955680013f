import { expect, test } from 'vitest'
import { nameFor } from './name-for.ts'

test('a session is named after its folder', () => {
  expect(nameFor('/home/ada/work/login-service/')).toBe('login-service')
  expect(nameFor('/home/ada/My Project (copy)')).toBe('My-Project-copy-')
  expect(nameFor('/')).toBe('rewind_sandbox')
})
