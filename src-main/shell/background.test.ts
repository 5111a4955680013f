import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BACKGROUND } from './background.ts'

test('an empty page has the colours of the theme', () => {
  const theme = readFileSync(join(import.meta.dirname, '../../src-renderer/theme.css'), 'utf8')
  const bases = [...theme.matchAll(/--base: (#\w+);/g)].map(([, colour]) => colour)
  expect(bases).toEqual([BACKGROUND.light, BACKGROUND.dark])
})
