/**
 * Does one operation on the only session of a data folder, armed to die in the middle. Run by the crash suite. Where it
 * outlives that, it tells how many armed control shells there were before and after: one that died is not armed again.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChosenHunks } from '../contract/index.ts'
import { openStore } from '../store/index.ts'
import { openSessions } from './index.ts'

const [home = '', operation = ''] = process.argv.slice(2)

function armedShells(): number {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')
  return children.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes('REWIND_CRASH_AT=')
    } catch {
      return false
    }
  }).length
}

/** A verdict that nobody can give, in front of somebody who has it rolled back. */
async function escalate(): Promise<void> {
  const watching = manager.watchEscalations({ as: 'window', session: null })
  await watching.next()
  const verifier = { command: 'echo nonsense', retries: 0, retryDelayMs: 0, timeoutMs: null }
  session.autoRollback({ on: true, events: ['exception'], to: 'first', verifier })
  const judging = session.runTests({ command: null }).catch(() => {})
  for await (const [question] of watching)
    if (question) {
      const answer = { id: question.id, via: 'window', note: null, handler: false, error: null } as const
      await session.escalations.answer({ ...answer, resolution: 'rollback' })
      break
    }
  await judging
}

const manager = await openSessions({ home, store: openStore(join(home, 'store.db')) })
const [{ id } = { id: '' }] = manager.list()
const session = manager.find(id)
await session.details()
if (process.env.REWIND_CRASH_AT?.endsWith('-copied'))
  // It holds the workspace by its folder, so that the point has to be copied under it.
  await session.startCommand({
    id: 'holder',
    command: 'exec sleep 300',
    cwd: null,
    env: {},
    stdin: null,
    timeoutMs: null,
    asTool: false,
    tool: null,
  })
const before = armedShells()
if (operation === 'prune') await session.prune({ points: ['first', 'second'], keep: null })
else if (operation === 'checkpoint')
  await session.checkpoint({ label: 'second', why: null, messages: null, takenBy: 'you' })
else if (operation === 'undo') await session.undo()
else if (operation === 'pause') {
  await session.pause()
  await session.unpause()
} else if (operation === 'end') await session.end()
else if (operation === 'destroy') await session.destroy()
else if (operation === 'commit') await session.commits.apply({ paths: null, force: false, skipConflicts: false }, 'you')
else if (operation?.startsWith('commit-hunks ')) {
  const hunks = JSON.parse(operation.slice('commit-hunks '.length)) as ChosenHunks[]
  await session.commits.apply({ paths: null, hunks, force: false, skipConflicts: false }, 'you')
} else if (operation === 'undo-commit') await session.commits.undo({ id: null, force: false }, 'you')
else if (operation === 'escalation') await escalate()
else {
  const only = operation === 'only-files' ? 'files' : operation === 'only-messages' ? 'messages' : null
  await session.rollback({ to: 'first', only, patchNotes: null })
}
process.stdout.write(JSON.stringify({ before, after: armedShells() }))
process.exit(0)
