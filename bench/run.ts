/**
 * `npm run bench [-- --json] [--quick] [--points N]`: what each step costs, as median and p95, each also as a ratio to the same figure
 * of a floor measured in the same run. Exit code 1 where a target is missed.
 */
import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openSessions, type Session } from '../src-main/session/index.ts'
import { openStore } from '../src-main/store/index.ts'
import { measureCommits } from './commits.ts'
import { type DockerFloors, dockerFloors, dockerHere, measureDocker } from './docker.ts'
import { type Floors, measureFloors } from './floors.ts'
import { measureLine, measurePruning } from './long-line.ts'
import { type Figure, figureOf, paced, repeat, timed } from './measure.ts'
import { measureMessages } from './messages.ts'

interface Row extends Figure {
  name: string
  floor: keyof Floors | keyof DockerFloors
  /** p50 over the floor's p50, and p95 over the floor's p95. */
  ratio: { p50: number; p95: number }
  /** What the ratio of medians is to stay under; null where none is promised. */
  target: number | null
}

const { values } = parseArgs({
  options: { json: { type: 'boolean' }, quick: { type: 'boolean' }, points: { type: 'string' } },
})
/** Of the long line: 5,000 take minutes. */
const linePoints = Number(values.points ?? (values.quick ? 150 : 300))
const runs = values.quick ? 5 : 40
const bin = resolve(import.meta.dirname, '../bin/rewind')
const scratch = mkdtempSync(join(tmpdir(), 'rewind-bench-'))
const busybox = ['/bin/busybox', '/usr/bin/busybox'].some((path) => {
  try {
    return execFileSync(path, ['true']).length === 0
  } catch {
    return false
  }
})
const swapTarget = busybox ? 6 : 15

/** A workspace of `files` small files that an ordinary user owns. */
function workspaceOf(files: number): string {
  const folder = join(scratch, `workspace-${files}`)
  mkdirSync(folder)
  const owned = (path: string) => {
    if (process.getuid?.() === 0) chownSync(path, 1000, 1000)
  }
  owned(folder)
  for (let n = 0; n < files; n++) {
    const part = join(folder, `d${n % 100}`)
    if (n < 100) {
      mkdirSync(part)
      owned(part)
    }
    writeFileSync(join(part, `f${n}`), 'x'.repeat(200))
    owned(join(part, `f${n}`))
  }
  return folder
}

const home = join(scratch, 'home')
mkdirSync(home, { mode: 0o700 })
const store = openStore(join(home, 'store.db'))
const sessions = await openSessions({ home, store })
const rows: Row[] = []
/** Figures that are measured against each other, not against a floor. */
const shares: { name: string; value: number; target: number }[] = []
const docker = await dockerHere()
const floors: Floors & Partial<DockerFloors> = {
  ...(await measureFloors(scratch)),
  ...(docker ? await dockerFloors(docker, runs) : {}),
}
const add = (name: string, figure: Figure, floor: Row['floor'], target: number | null = null) => {
  const { p50, p95 } = floors[floor] ?? { p50: Number.NaN, p95: Number.NaN }
  rows.push({ name, ...figure, floor, ratio: { p50: figure.p50 / p50, p95: figure.p95 / p95 }, target })
}

const begin = async (name: string, workspace: string, engine: 'local' | 'docker' = 'local'): Promise<Session> => {
  await sessions.create({
    name,
    workspace,
    explicit: true,
    create: false,
    force: true,
    engine,
    mode: 'interactive',
    base: 'live',
    network: true,
    env: {},
  })
  return sessions.find(name)
}
/** What differs, among 100,000 files: a hundred at the end of a chain, and all of them. */
async function measureChanges(session: Session): Promise<void> {
  const save = (label: string) => session.checkpoint({ label, why: null, messages: null, takenBy: 'you' })
  const changes = (from: string, to: string) => session.changes({ from, to, limit: null })
  const edit = async (round: number) => {
    for (let n = 0; n < 100; n++) {
      const file = (n * 977 + round * 31) % 100_000
      await session.write({ path: `d${file % 100}/f${file}`, content: `${round}`, encoding: 'utf-8', tool: null })
    }
  }
  for (let round = 0; round <= 20; round++) {
    await edit(round)
    await save(`c${round}`)
  }
  await edit(21)
  // What frozen layers hold is learned once.
  for (const to of ['c20', 'now']) await changes('c19', to)
  add('100 changes of 100,000 files', await repeat(runs, () => changes('c19', 'c20')), 'fork', 20)
  add('100 changes, to what stands', await repeat(runs, () => changes('c20', 'now')), 'fork', 20)
  await runCommand(session, ['sh', '-c', 'for d in d*; do for f in $d/*; do echo x >>$f; done; done'])
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  add('100,000 changes', await repeat(1, () => changes('c20', 'now')), 'fork')
  delay.disable()
  const stall = { p50: delay.percentile(99) / 1e6, p95: delay.max / 1e6, runs: 1 }
  add('  the host meanwhile: p99, worst delay', stall, 'fork', 50)
  await session.destroy()
}

let commands = 0
const runTrue = (session: Session) => runCommand(session, ['true'])
const runCommand = async (session: Session, command: string[], user?: 'root') => {
  const id = `bench-${commands++}`
  await session.startCommand({
    id,
    command,
    cwd: null,
    user,
    env: {},
    stdin: null,
    timeoutMs: null,
    asTool: false,
    tool: null,
  })
  await session.waitCommand({ id })
}

try {
  const few = workspaceOf(10)
  const many = workspaceOf(100_000)
  for (const [files, workspace] of [
    [10, few],
    [100_000, many],
  ] as const) {
    const samples: number[] = []
    for (let run = 0; run < (values.quick ? 2 : 7); run++) {
      let session: Session | undefined
      samples.push(
        await timed(async () => {
          session = await begin('start', workspace)
          await runTrue(session)
        }),
      )
      await session?.destroy()
    }
    add(`start to first command, ${files.toLocaleString('en')} files`, figureOf(samples), 'fork', 150)
  }

  if (docker)
    await measureDocker({ begin: () => begin('docker', few, 'docker'), run: runCommand, runs: Math.min(runs, 20) }, add)

  const session = await begin('steps', few)
  const content = 'x'.repeat(1024)
  const write = (path: string, text = content) => session.write({ path, content: text, encoding: 'utf-8', tool: null })
  add('write 1 KB', await repeat(runs, (n) => write(`written-${n}`)), 'fork')
  add('read 1 KB', await repeat(runs, () => session.read({ path: 'written-0', at: 'now', encoding: null })), 'fork')
  const large = 'x'.repeat(100 << 20)
  const largeRuns = values.quick ? 2 : 5
  add('write 100 MB', await repeat(largeRuns, (n) => write(`large-${n}`, large)), 'fork')
  add(
    'read 100 MB',
    await repeat(largeRuns, () => session.read({ path: 'large-0', at: 'now', encoding: null })),
    'fork',
  )
  add('run true', await paced(runs, async () => () => runTrue(session)), 'fork', 4)
  add('run true, right after another', await repeat(runs, () => runTrue(session)), 'fork')

  let points = 0
  const checkpoint = async () => {
    points++
    await write('counter', String(points))
    return timed(() => session.checkpoint({ label: `p${points}`, why: null, messages: null, takenBy: 'you' }))
  }
  for (const depth of values.quick ? [10] : [10, 100, 300]) {
    const last: number[] = []
    while (points < depth) last.push(await checkpoint())
    add(`checkpoint, at ${depth} points`, figureOf(last.slice(-runs)), 'fork', swapTarget)
    const target = `p${depth}`
    add(
      `rollback, at ${depth} points`,
      figureOf(
        await (async () => {
          const samples: number[] = []
          for (let run = 0; run < Math.min(runs, 20); run++) {
            await write('counter', `changed ${run}`)
            samples.push(await timed(() => session.rollback({ to: target, only: null, patchNotes: null })))
          }
          return samples
        })(),
      ),
      'fork',
      swapTarget,
    )
  }
  await session.destroy()

  const committed = workspaceOf(20_000)
  const commits = await begin('commits', committed)
  const measured = { files: 20_000, workspace: committed, scratch, rounds: values.quick ? 3 : 15 }
  const figures = await measureCommits(commits, measured, runCommand)
  add('commit of 100 changes among 20,000 files', figures.few, 'fork', 40)
  add('commit of 20,000 changes', figures.all, 'fork')
  shares.push({
    name: 'commit of 20,000 changes over cp -a of them',
    value: figures.all.p50 / figures.copy.p50,
    target: 20,
  })
  shares.push({ name: 'MB of memory while 400 MB were committed', value: figures.growth / (1 << 20), target: 100 })
  await commits.destroy()

  const talk = await begin('talk', few)
  const messages = await measureMessages(talk, join(home, 'store.db'), runs)
  add('sync of one new message, compacted history', messages.compacted, 'fork')
  add('sync of one new message, after 10,000', messages.long, 'fork')
  shares.push({ name: 'milliseconds of a sync of one new message, after 10,000', value: messages.long.p50, target: 10 })
  shares.push({ name: 'what 10,000 messages left in the store over their text', value: messages.growth, target: 2 })
  await talk.destroy()

  const long = await begin('long', few)
  const line = await measureLine(long, linePoints, home)
  const named = linePoints.toLocaleString('en')
  add(`checkpoint, after ${named} points`, line.checkpoint, 'fork', swapTarget)
  add(`rollback, anywhere on ${named} points`, line.rollback, 'fork', swapTarget)
  add(`checkpoint, last of ${named} in a row`, line.last, 'fork')
  shares.push({ name: 'last checkpoints over first ones', value: line.last.p50 / line.first.p50, target: 2 })
  shares.push({ name: 'disk of the second half over the first', value: line.growth, target: 1.5 })
  await long.destroy()
  const left = await measurePruning((name) => begin(name, few), values.quick ? 30 : 100, home)
  shares.push({ name: 'disk after pruning over never having had', value: left, target: 1.1 })
  await measureChanges(await begin('changes', many))
} finally {
  // What a failure left running; without one there is nothing.
  for (const { id, status } of sessions.list()) if (status !== 'destroyed') await sessions.find(id).destroy()
  await sessions.close()
  store.close()
}

const cliHome = join(scratch, 'cli-home')
const env = { ...process.env, REWIND_HOME: cliHome, REWIND_ENGINE: 'local' }
const rewind = (...args: string[]) => execFileSync(bin, args, { env, cwd: scratch })
/** Ends the host that the command line started, and waits until it has let go of the folder. */
async function endHost(): Promise<void> {
  const file = join(cliHome, 'host.json')
  if (!existsSync(file)) return
  process.kill(JSON.parse(readFileSync(file, 'utf8')).pid)
  while (existsSync(file)) await sleep(20)
}
try {
  rewind('init', join(scratch, 'workspace-10'), '--session', 'cli')
  add('CLI status', await repeat(values.quick ? 3 : 15, () => rewind('status', '--session', 'cli')), 'node', 3)
  rewind('destroy', '-y', '--session', 'cli')
} finally {
  await endHost()
  rmSync(scratch, { recursive: true, force: true })
}

const missed = [
  ...rows.filter((row) => row.target !== null && row.ratio.p50 > row.target),
  ...shares.filter(({ value, target }) => !(value <= target)),
]
if (values.json) {
  console.log(
    JSON.stringify(
      {
        engines: docker ? ['local', 'docker'] : ['local'],
        controlShell: busybox ? 'busybox' : 'sh',
        floors,
        rows,
        shares,
        missed: missed.length,
      },
      null,
      2,
    ),
  )
} else {
  const ms = (value: number) => `${value.toFixed(2)} ms`
  console.log(`control shell: ${busybox ? 'busybox' : 'sh'}\n`)
  for (const [name, figure] of Object.entries(floors))
    console.log(`${`floor: ${name}`.padEnd(40)} p50 ${ms(figure.p50).padStart(11)}  p95 ${ms(figure.p95).padStart(11)}`)
  console.log('')
  const times = ({ p50, p95 }: Row['ratio']) => `${p50.toFixed(1).padStart(6)} / ${p95.toFixed(1).padStart(6)}`
  for (const row of rows)
    console.log(
      `${row.name.padEnd(40)} p50 ${ms(row.p50).padStart(11)}  p95 ${ms(row.p95).padStart(11)}  ${times(row.ratio)} × ${row.floor}` +
        (row.target === null ? '' : row.ratio.p50 > row.target ? `  over ${row.target}` : `  under ${row.target}`),
    )
}
if (!values.json && !docker)
  console.log('not measured: docker (no engine answers that holds the image of the sandboxes)')
if (!values.json)
  for (const { name, value, target } of shares)
    console.log(`${name.padEnd(40)} ${value.toFixed(2).padStart(6)}  ${value <= target ? 'under' : 'over'} ${target}`)
process.exitCode = missed.length > 0 ? 1 : 0
