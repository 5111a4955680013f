import { expect, it } from 'vitest'
import type { Change } from '../../src-main/contract/index.ts'
import { matching } from './filter.ts'

const changes = ['src/App.tsx', 'src/app.test.ts', 'README.md'].map(
  (path): Change => ({ path, rawPath: null, status: 'added', kind: 'file', before: null, after: 1 }),
)
const found = (filter: string) => matching(changes, filter).map(({ path }) => path)

it('finds by parts of the path, in any case and order', () => {
  expect(found('APP')).toEqual(['src/App.tsx', 'src/app.test.ts'])
  expect(found('test src')).toEqual(['src/app.test.ts'])
  expect(found('nothing')).toEqual([])
})

it('leaves all where nothing is asked for', () => {
  expect(matching(changes, '  ')).toBe(changes)
})
