import { describe, expect, test } from 'vitest'
import type { LedgerEntry } from '../../src-main/contract/index.ts'
import {
  choicesOf,
  isFiltered,
  matching,
  NO_FILTERS,
  outcomeOf,
  previousHash,
  spokenEntry,
  verdictJson,
} from './filter.ts'

const entry = (id: number, given: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id,
  session: 's1',
  timestamp: new Date(id * 1000),
  eventType: 'verification',
  status: 'pass',
  checkpoint: null,
  point: null,
  rawOutput: null,
  notes: null,
  resolution: null,
  decidedBy: null,
  hash: String(id).repeat(64),
  ...given,
})

const rows = [
  entry(1, { point: 's-ckpt-1', notes: '14 tests pass' }),
  entry(2, { status: 'fail', checkpoint: 'stable', point: 's-ckpt-2', rawOutput: 'E   AssertionError: Münze' }),
  entry(3, {
    eventType: 'rollback',
    status: 'rolled_back',
    checkpoint: 'stable',
    resolution: 'rollback',
    decidedBy: 'rule',
  }),
  entry(4, { eventType: 'escalation', status: 'unknown', resolution: 'continue', decidedBy: 'you' }),
]
const ids = (given: Partial<typeof NO_FILTERS>) => matching(rows, { ...NO_FILTERS, ...given }).map(({ id }) => id)

describe('the rows in view', () => {
  test('all of them where nothing is asked', () => {
    expect(matching(rows, NO_FILTERS)).toBe(rows)
    expect(isFiltered(NO_FILTERS)).toBe(false)
  })

  test('each filter narrows, and they narrow together', () => {
    expect(ids({ type: 'verification' })).toEqual([1, 2])
    expect(ids({ status: 'fail' })).toEqual([2])
    expect(ids({ point: 'stable' })).toEqual([2, 3])
    expect(ids({ point: 's-ckpt-1' })).toEqual([1])
    expect(ids({ decidedBy: 'you' })).toEqual([4])
    expect(ids({ point: 'stable', type: 'rollback' })).toEqual([3])
    expect(ids({ type: 'commit' })).toEqual([])
  })

  test('a decision is found beside the status it was taken on', () => {
    expect(ids({ status: 'continue' })).toEqual([4])
    expect(ids({ status: 'unknown' })).toEqual([4])
  })

  test('text is looked for in notes, output, names and words, whatever its case', () => {
    expect(ids({ text: ' MÜNZE ' })).toEqual([2])
    expect(ids({ text: 'tests pass' })).toEqual([1])
    expect(ids({ text: 'rolled back' })).toEqual([3])
    expect(ids({ text: 'escalation' })).toEqual([4])
    expect(ids({ text: '2222' })).toEqual([2])
    expect(ids({ text: '.*' })).toEqual([])
  })

  test('what there is to choose occurs', () => {
    expect(choicesOf(rows)).toEqual({
      type: ['escalation', 'rollback', 'verification'],
      status: ['continue', 'fail', 'pass', 'rollback', 'rolled_back', 'unknown'],
      point: ['stable', 's-ckpt-2', 's-ckpt-1'],
      decidedBy: ['rule', 'you'],
    })
  })

  test('ten thousand points give a list that can be read, the newest first', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => entry(n + 1, { point: `p${n + 1}` }))
    const { point } = choicesOf(many)
    expect(point).toHaveLength(300)
    expect(point[0]).toBe('p10000')
  })
})

describe('one row', () => {
  test('is spoken in one line, hostile text written out', () => {
    const spoken = spokenEntry(entry(1, { status: 'fail', checkpoint: 'a\u202eb', notes: 'first\nsecond' }), 'just now')
    expect(spoken).toBe('verification, fail, a\\u{202e}b, first second, just now')
  })

  test('tells its status and what was decided', () => {
    const escalation = { eventType: 'escalation' as const, status: 'unknown', resolution: 'rollback' }
    expect(outcomeOf(escalation)).toBe('unknown, rollback')
    expect(outcomeOf({ ...escalation, status: null, resolution: null })).toBe('')
    expect(outcomeOf({ eventType: 'rollback', status: 'rolled_back', resolution: 'rollback' })).toBe('rolled back')
  })

  test('knows the hash that its own covers', () => {
    expect(previousHash(rows, 1)).toBe('0'.repeat(64))
    expect(previousHash(rows, 3)).toBe('2'.repeat(64))
    expect(previousHash(rows.slice(2), 3)).toBeNull()
  })
})

describe('what a verifier printed', () => {
  test('as an object, also after other lines', () => {
    expect(verdictJson('{"status":"fail","errors":["a"]}')).toBe(
      '{\n  "status": "fail",\n  "errors": [\n    "a"\n  ]\n}',
    )
    expect(verdictJson('warning: old\n{"status":"pass"}\n')).toBe('{\n  "status": "pass"\n}')
    expect(verdictJson('{\n  "status": "pass"\n}')).toBe('{\n  "status": "pass"\n}')
  })

  test('nothing where it is none', () => {
    for (const output of ['', 'Segmentation fault', '{"status":', '[1]', '{"other": 1}'])
      expect(verdictJson(output)).toBeNull()
  })
})
