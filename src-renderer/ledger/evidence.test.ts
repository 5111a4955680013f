import { expect, test } from 'vitest'
import { FixtureHost } from '../fixtures/fixture-host.ts'
import { FixtureSession } from '../fixtures/fixture-session.ts'
import { undecided } from '../fixtures/scenarios.ts'
import { evidenceFor } from './evidence.ts'

const session = new FixtureSession(new FixtureHost().raise, { id: 's1', name: 'one' }, {})
const answered = (id: string, at: number, rawOutput = 'locked') => {
  const question = undecided(session)
  const lastResult = { ...question.evidence.lastResult, rawOutput }
  return {
    ...question,
    id,
    status: 'answered' as const,
    answeredAt: new Date(at),
    evidence: { ...question.evidence, lastResult },
  }
}
const row = { timestamp: new Date(100_000), point: null, rawOutput: 'locked' }

test('the decision that was written with the row, of the same verdict', () => {
  const escalations = [answered('before', 96_000), answered('with it', 99_990), answered('other verdict', 100_000, 'x')]
  expect(evidenceFor(row, escalations)?.id).toBe('with it')
})

test('none where all are of another time, or still open', () => {
  expect(evidenceFor(row, [answered('long ago', 10_000), undecided(session)])).toBeNull()
})

test('also where a secret was taken out of what the ledger keeps', () => {
  const escalations = [answered('with it', 100_000, 'locked by hunter2222')]
  expect(evidenceFor({ ...row, rawOutput: 'locked by [redacted: DB_PASSWORD]' }, escalations)?.id).toBe('with it')
})
