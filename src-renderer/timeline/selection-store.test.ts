import { expect, test } from 'vitest'
import { createSelectionStore } from './selection-store.ts'

test('what changed in a step is shown as that, however was looked before', () => {
  const selection = createSelectionStore()
  selection.select('one')
  selection.extend('two')
  selection.against('now')
  selection.tab('messages')
  selection.changesOf('three')
  expect(selection.getState()).toMatchObject({ moment: 'three', other: null, against: 'parent', tab: 'changes' })
})
