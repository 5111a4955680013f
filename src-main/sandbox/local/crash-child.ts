/**
 * One operation in a sandbox whose control shell is armed to die in the middle of it. Run by crash.test.ts, which sets
 * REWIND_CRASH_AT. Tells as JSON what became of it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLocalProvider } from './index.ts'
import { readProcess } from './processes.ts'

const [home = '', workspace = '', operation = ''] = process.argv.slice(2)

/** Control shells of this sandbox that are armed: the one that takes the place of a dead one is not. */
function armedShells(): number {
  const armed = (pid: string): boolean => {
    try {
      const words = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      // Programs that it started, and that wait, inherited its environment.
      if (readProcess(Number(pid))?.parent !== process.pid) return false
      return (
        words.includes(`FOLDER=${join(home, 'sandboxes', 'crash')}`) &&
        words.some((word) => word.startsWith('REWIND_CRASH_AT='))
      )
    } catch {
      return false
    }
  }
  return readdirSync('/proc').filter((name) => Number(name) > 0 && Number(name) !== process.pid && armed(name)).length
}

const provider = createLocalProvider({ home })
const sandbox = await provider.create({
  id: 'crash',
  workspace,
  base: 'live',
  network: true,
  image: null,
  scope: 'workspace',
  env: {},
  hidden: [home],
})
const before = armedShells()
const text = async (path: string, state?: Parameters<typeof sandbox.readFile>[1]): Promise<string> =>
  Buffer.from(await sandbox.readFile(path, state)).toString()
const run = async (id: string, command: string): Promise<string> => {
  const running = await sandbox.exec({ id, command })
  await running.ended
  return Buffer.from(await running.read('stdout', 0, 1000))
    .toString()
    .trim()
}

await run('one', 'echo point >f; echo point >/tmp/f')
const point = (await sandbox.checkpoint('point')).state
await run('two', 'echo later >f; echo later >/tmp/f')
if (operation.endsWith('renamed')) await run('rename', 'mv folder renamed')
if (operation === 'live') {
  await sandbox.exec({ id: 'holder', command: 'exec sleep 300 >>held' })
  // Told as started, it may not have opened its file yet; what comes after the checkpoint would be a change.
  while ((await sandbox.processes())[0]?.command !== 'sleep 300') await sleep(5)
}
const outcome = operation.startsWith('rollback')
  ? (await sandbox.rollback('op', point)).left
  : await sandbox.checkpoint('op')
const after = armedShells()
process.stdout.write(
  JSON.stringify({
    before,
    after,
    changed: outcome.changed,
    frozen: await text('f', outcome.state),
    renamed: await text('renamed/inner', outcome.state).catch(() => null),
    now: await run('three', 'cat f /tmp/f'),
    again: (await sandbox.checkpoint('op2')).changed,
    processes: (await sandbox.processes()).map(({ command }) => command),
  }),
)
await sandbox.destroy()
