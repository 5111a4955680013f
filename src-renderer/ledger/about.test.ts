import { expect, test } from 'vitest'
import { FixtureHost } from '../fixtures/fixture-host.ts'
import { FixtureSession } from '../fixtures/fixture-session.ts'
import { demoBase } from '../fixtures/story.ts'
import { aboutOf } from './about.ts'

const session = new FixtureSession(new FixtureHost().raise, { id: 's1', name: 'one' }, demoBase)
const good = session.checkpoint({ label: 'good' })
const bad = session.checkpoint({ label: 'bad' })
session.judge(good.id, { status: 'fail', text: 'earlier', at: new Date(90_000) })
session.judge(bad.id, { status: 'fail', text: 'tests fail', at: new Date(100_200) })
const about = aboutOf(session.timeline())
const row = { point: null, status: 'fail', timestamp: new Date(100_000) }

test('the point that a row names, as long as it is held', () => {
  expect(about({ ...row, point: good.id })).toBe(good.id)
  expect(about({ ...row, point: 's1-ckpt-99' })).toBeNull()
})

test('a verdict on what no point held by then is on the point that froze it', () => {
  expect(about(row)).toBe(bad.id)
})

test('no point of another verdict, or of another time', () => {
  expect(about({ ...row, status: 'pass' })).toBeNull()
  expect(about({ ...row, timestamp: new Date(200_000) })).toBeNull()
  expect(aboutOf(null)(row)).toBeNull()
})
