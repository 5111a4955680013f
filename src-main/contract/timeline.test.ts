/** What follows from points and head alone. */
import { expect, test } from 'vitest'
import type { Point } from './model.ts'
import { lastSaved } from './timeline.ts'

type Row = [id: string, parent: string | null, kind: Point['kind']]

const points = (...rows: Row[]) =>
  rows.map(([id, parent, kind], seq) => ({ id, parent, kind, seq, takenBy: 'you' as const }))

const story = points(
  ['base', null, 'base'],
  ['one', 'base', 'checkpoint'],
  ['two', 'one', 'checkpoint'],
  ['left', 'two', 'tip'],
  ['after-undo', 'left', 'checkpoint'],
  ['left-first', 'base', 'tip'],
)

test.each([
  ['two', 'two'],
  // An undone rewind stands on the tip: what it brought back is in no checkpoint.
  ['left', 'two'],
  ['after-undo', 'after-undo'],
  ['left-first', 'base'],
  ['base', 'base'],
])('at %s, now is compared with %s', (head, saved) => {
  expect(lastSaved(story, head)?.id).toBe(saved)
})

test('without points there is nothing to compare with', () => {
  expect(lastSaved([], 'base')).toBeUndefined()
})
