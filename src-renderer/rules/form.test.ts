import { expect, test } from 'vitest'
import type { Rules } from '../../src-main/contract/index.ts'
import { formOf, readForm, readVerifier } from './form.ts'

const none: Rules = { autoCheckpoint: null, autoRollback: null, retention: { budgetBytes: 10_000_000_000 } }
const ruled: Rules = {
  autoCheckpoint: { trigger: 'before_tool_call', keepLast: 5 },
  autoRollback: {
    events: ['test_failure'],
    to: 'stable',
    verifier: { command: ['sh', 'verify it.sh'], retries: 1, retryDelayMs: 500, timeoutMs: null },
  },
  retention: { budgetBytes: null },
}

test('what nobody changed is not asked for', () => {
  for (const rules of [none, ruled]) expect(readForm(formOf(rules), rules)).toEqual({ ok: true, wanted: {} })
})

test('only what was changed is asked for, in the host’s units', () => {
  expect(readForm({ ...formOf(none), checkpoints: true, keepLast: '3', budget: '1.5' }, none)).toEqual({
    ok: true,
    wanted: { autoCheckpoint: { on: true, keepLast: 3 }, retention: { budgetBytes: 1_500_000_000 } },
  })
  // Given as words it stays so.
  expect(readForm({ ...formOf(ruled), timeout: '2.5', exception: true }, ruled)).toEqual({
    ok: true,
    wanted: {
      autoRollback: {
        on: true,
        events: ['exception', 'test_failure'],
        to: 'stable',
        verifier: { command: ['sh', 'verify it.sh'], retries: 1, retryDelayMs: 500, timeoutMs: 2500 },
      },
    },
  })
  expect(readForm({ ...formOf(ruled), rollbacks: false, budget: '' }, ruled)).toMatchObject({
    wanted: { autoRollback: { on: false } },
  })
})

test('what makes no sense is said at its field', () => {
  const form = { ...formOf(none), checkpoints: true, keepLast: '0', rollbacks: true, exception: false, budget: '-1' }
  expect(readForm(form, none)).toEqual({
    ok: false,
    problems: {
      keepLast: expect.any(String),
      exception: expect.any(String),
      budget: expect.any(String),
    },
  })
  const judged = { ...formOf(none), rollbacks: true, testFailure: true }
  expect(readForm(judged, none)).toMatchObject({ problems: { verifier: expect.any(String) } })
  expect(readForm({ ...judged, verifier: 'sh v.sh', retries: '', delay: 'x', timeout: '0' }, none)).toEqual({
    ok: false,
    problems: { retries: expect.any(String), delay: expect.any(String), timeout: expect.any(String) },
  })
  // What is switched off is not looked at.
  expect(readForm({ ...formOf(none), keepLast: 'x', timeout: 'x' }, none)).toEqual({ ok: true, wanted: {} })
})

test('the verifier as it is typed can be read by itself', () => {
  expect(readVerifier({ ...formOf(ruled), timeout: '2' }, ruled)).toEqual({
    ok: true,
    verifier: { command: ['sh', 'verify it.sh'], retries: 1, retryDelayMs: 500, timeoutMs: 2_000 },
  })
  expect(readVerifier({ ...formOf(none), timeout: 'soon' }, none)).toMatchObject({
    problems: { verifier: 'A command is needed.', timeout: expect.any(String) },
  })
})
