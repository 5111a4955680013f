import { expect, test } from 'vitest'
import type { Change } from '../../src-main/contract/index.ts'
import { moreThan } from './more.ts'

const change = (kind: Change['kind']): Change => ({
  path: kind,
  rawPath: null,
  status: 'added',
  kind,
  before: null,
  after: 1,
})

test.each([
  ['everything is listed', 3, 3, 2, 0],
  ['the list is shorter than what came', 2, 3, 2, 1],
  ['what came is shorter than what there is', 2, 3, 900, 899],
])('%s', (_title, listed, given, counted, more) => {
  const changes = [change('folder'), change('file'), change('symlink')]
  expect(moreThan(changes.slice(0, listed), changes.slice(0, given), counted)).toBe(more)
})
