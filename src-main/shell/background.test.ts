import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BACKGROUND } from './background.ts'

test('an empty page has the colours of the theme', () => {
  const theme = readFileSync(join(import.meta.dirname, '../../src-renderer/theme.css'), 'utf8')
  // Of the two plain themes: what else a person chooses is known when the page is there.
  const bases = [...theme.matchAll(/^:root(?:\[data-theme="dark"\])? \{[^}]*--base: (#\w+);/gm)].map(
    ([, colour]) => colour,
  )
  expect(bases).toEqual([BACKGROUND.light, BACKGROUND.dark])
})
