import { expect, test } from 'vitest'
import type { CommandRecord, LedgerEntry } from '../../src-main/contract/index.ts'
import { verdictOf } from './verdict.ts'

const at = (second: number) => new Date(second * 1000)

const run = (id: string, from: number, to: number | null, tool: string | null = 'verifier'): CommandRecord => ({
  id,
  session: 's',
  command: 'sh verify.sh',
  tool,
  guarded: false,
  startedAt: at(from),
  endedAt: to === null ? null : at(to),
  status: to === null ? 'running' : 'exited',
  code: 0,
  signal: null,
  note: null,
  stdoutBytes: 0,
  stderrBytes: 0,
  terminal: null,
})

const row = (second: number, eventType: LedgerEntry['eventType'], status: string): LedgerEntry => ({
  id: second,
  session: 's',
  timestamp: at(second),
  eventType,
  status,
  checkpoint: null,
  point: null,
  rawOutput: null,
  notes: null,
  resolution: null,
  decidedBy: null,
  hash: '',
})

const first = run('first', 1, 2)
const again = run('again', 4, 5)
const later = run('later', 20, 21)
const commands = [first, again, run('tool', 6, 7, 'bash'), later]
const ledger = [row(6, 'rollback', 'undone'), row(7, 'verification', 'fail'), row(22, 'escalation', 'unknown')]

test('the ledger’s first verdict after a run is its own', () => {
  expect(verdictOf(again, commands, ledger)).toBe('fail')
  expect(verdictOf(later, commands, ledger)).toBe('unknown')
})

test('a run that was repeated has none, nor has one that runs, nor one that is no verifier', () => {
  expect(verdictOf(first, commands, ledger)).toBeNull()
  expect(verdictOf(run('now', 30, null), commands, ledger)).toBeNull()
  expect(verdictOf(run('tool', 6, 7, 'bash'), commands, ledger)).toBeNull()
  expect(verdictOf(later, commands, [])).toBeNull()
})
