/** A session's record for tests; apart from the other helpers because a plain process needs it too. */
import type { SessionRow } from './index.ts'

export const sessionRow = (given: Partial<SessionRow> = {}): SessionRow => ({
  id: 's1',
  name: 'agent',
  workspace: '/home/ada/project',
  workspaceInside: '/home/ada/project',
  engine: 'local',
  engineDetail: 'user namespaces',
  base: 'copy',
  status: 'running',
  mode: 'interactive',
  demo: false,
  network: true,
  env: {},
  createdAt: new Date(1_000),
  endedAt: null,
  head: 'base',
  epoch: 0,
  begunBy: 'person',
  shared: false,
  undo: null,
  notes: [],
  rules: { autoCheckpoint: null, autoRollback: null, retention: { budgetBytes: null } },
  lastAutoRollback: null,
  haltedBy: null,
  ...given,
})
