/** What the store's tests begin with: a store in a folder of its own, and records to put into it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CommandRecord, Point } from '../contract/index.ts'
import { openStore, type Store } from './index.ts'
import { sessionRow } from './session-row.fixture.ts'

/** A fresh folder, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'rewind-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** An open store that holds sessions of these ids, closed when the test ends. */
export function storeWith(...sessions: string[]): { store: Store; file: string } {
  const file = join(temporaryFolder(), 'store.db')
  const store = openStore(file)
  onTestFinished(() => store.close())
  for (const id of sessions) store.sessions.insert(sessionRow({ id }))
  return { store, file }
}

/** The point of that number; 0 is base. */
export const point = (seq: number, given: Partial<Point> = {}): Point => ({
  id: seq === 0 ? 'base' : `agent-ckpt-${seq}`,
  session: 's1',
  seq,
  kind: seq === 0 ? 'base' : 'checkpoint',
  label: seq === 0 ? null : `label ${seq}`,
  parent: seq === 0 ? null : seq === 1 ? 'base' : `agent-ckpt-${seq - 1}`,
  at: new Date(1_000 + seq),
  takenBy: 'you',
  why: null,
  tool: null,
  messages: 0,
  files: null,
  running: [],
  verdict: null,
  pinned: false,
  coverage: { files: true, messages: true, processes: false },
  host: null,
  ms: 3.25,
  bytes: null,
  ...given,
})

export const command = (id: string, given: Partial<CommandRecord> = {}): CommandRecord => ({
  id,
  session: 's1',
  command: 'true',
  tool: null,
  guarded: false,
  startedAt: new Date(1_000),
  endedAt: null,
  status: 'running',
  code: null,
  signal: null,
  note: null,
  stdoutBytes: 0,
  stderrBytes: 0,
  terminal: null,
  ...given,
})
