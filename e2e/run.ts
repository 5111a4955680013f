/**
 * Runs all tests (`npm test`, after the build) and says what was not run and why.
 *
 * Root and ordinary users get different sandboxes, so as root the suites that differ run a second time as uid 1000. Those
 * of the docker engine then run as that user alone: root could reach into what the engine keeps, and nobody would notice.
 * The counts come from vitest's JSON report, what was left out from needs.ts; the last line is always
 * `N passed, M failed`. Arguments are passed on to vitest: `npm test -- src-main/store`.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative, resolve } from 'node:path'
import { endProcessesIn, unmountBelow } from './left-behind.ts'
import { type Part, type ReportLine, requiredParts } from './parts.ts'
import { type Outcome, summarise } from './summary.ts'

/** One vitest run: who runs it, on which files, and what it may not leave out. */
interface Run {
  title: string
  /** Its temporary folder; also holds its reports. */
  folder: string
  files: string[]
  require: Part[]
  env: NodeJS.ProcessEnv
  /** Where this user finds the tree. */
  tree: string
  options: string[]
  /** What stands before the command to become this user. */
  launcher: string[]
}

const ORDINARY = { uid: 1000, gid: 1000 }
const BECOME_ORDINARY = [`--reuid=${ORDINARY.uid}`, `--regid=${ORDINARY.gid}`, ...groupsOfOrdinaryUser(), '--']
/** Where an ordinary user finds a clone that lies in a folder closed to them, such as /root. */
const SHOWN_AT = '/mnt/rewind'
const TWO_AT_A_TIME = ['--maxWorkers=2']
const DOCKER_SUITES = 'src-main/sandbox/docker/**'
const SHOW_TREE = `mount -t tmpfs -o mode=755 none /mnt && mkdir ${SHOWN_AT} && mount --rbind "$0" ${SHOWN_AT} && cd ${SHOWN_AT} && exec "$@"`

const root = resolve(import.meta.dirname, '..')
/** Somebody wants no more of it: what was begun ends, nothing else begins. */
let calledOff = false
const { options, filters } = parseArguments(process.argv.slice(2))
const required = requiredParts(process.env.REWIND_REQUIRE)
// A short path: tests put sockets below it, and those end at 107 bytes.
const base = mkdtempSync(join(tmpdir(), 'rw-'))
chmodSync(base, 0o755)

try {
  const outcomes: Outcome[] = []
  for (const run of planRuns()) if (!calledOff) outcomes.push(await vitest(run))
  for (const { pid, command } of endProcessesIn(base))
    console.log(`left behind by a test, and ended: ${pid} ${command}`)
  for (const path of unmountBelow(base)) console.log(`left behind by a test, and unmounted: ${path}`)
  const { lines, ok } = summarise(outcomes, filters.length > 0 ? [] : required)
  for (const line of lines) console.log(line)
  process.exitCode = ok && !calledOff ? 0 : 1
} finally {
  removeTree(base)
}

function planRuns(): Run[] {
  const own: Run = {
    title: '',
    folder: join(base, 'a'),
    files: filters,
    require: required,
    env: process.env,
    tree: root,
    options: [],
    launcher: [],
  }
  const ordinary = suitesForOrdinaryUsers()
  if (process.getuid?.() !== 0 || !succeeds('setpriv', '--version') || ordinary.length === 0) return inParts(own)
  const readable = succeeds('setpriv', ...BECOME_ORDINARY, 'test', '-r', join(root, 'package.json'))
  const become = ['setpriv', ...BECOME_ORDINARY]
  const tree = readable ? root : SHOWN_AT
  return [
    ...inParts({
      ...own,
      require: required.filter((part) => part !== 'userns'),
      options: [`--exclude=${DOCKER_SUITES}`],
    }),
    {
      title: `as an ordinary user (uid ${ORDINARY.uid})`,
      folder: join(base, 'b'),
      files: ordinary,
      require: required,
      env: environmentOfOrdinaryUser(tree),
      tree,
      // The tree is not theirs, so no cache can be written.
      options: ['--configLoader=runner', '--no-cache', '--no-fsModuleCache', ...TWO_AT_A_TIME],
      launcher: readable ? become : ['unshare', '-m', 'sh', '-c', SHOW_TREE, root, ...become],
    },
  ]
}

/**
 * The code's own tests run two files at a time, whatever the machine; those of the whole product alone, as they hold it
 * to what a person would call at once.
 */
function inParts(run: Run): Run[] {
  if (filters.length > 0) return [run]
  return [
    { ...run, files: ['src-main/', 'src-renderer/'], options: [...run.options, ...TWO_AT_A_TIME] },
    { ...run, title: 'the whole product', folder: join(base, 'w'), files: ['e2e/'] },
  ]
}

/** That of docker's socket, where it has one that is not root's. */
function groupsOfOrdinaryUser(): string[] {
  const gid = statSync('/var/run/docker.sock', { throwIfNoEntry: false })?.gid ?? 0
  return gid === 0 ? ['--clear-groups'] : [`--groups=${gid}`]
}

/** Those that work with sandboxes, and whatever names user namespaces as its need. */
function suitesForOrdinaryUsers(): string[] {
  const all = globSync('{src-main,src-renderer,e2e}/**/*.test.{ts,tsx}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  const namesUserns = (file: string) => /suiteNeeding\(\s*\[[^\]]*'userns'/.test(readFileSync(join(root, file), 'utf8'))
  return all
    .filter((file) => /^src-main\/(sandbox|session)\//.test(file) || namesUserns(file))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
}

function environmentOfOrdinaryUser(tree: string): NodeJS.ProcessEnv {
  const kept = [
    'LANG',
    'TERM',
    'CI',
    'NO_COLOR',
    'FORCE_COLOR',
    'REWIND_CHROMIUM',
    'DOCKER_HOST',
    'REWIND_PROGRAM_SECONDS',
    'REWIND_PROGRAM_SEED',
  ].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  const path = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/local/sbin', '/usr/sbin', '/sbin']
  return {
    ...Object.fromEntries(kept),
    PATH: [join(tree, 'node_modules/.bin'), ...path].join(delimiter),
    HOME: join(base, 'b/home'),
  }
}

async function vitest(run: Run): Promise<Outcome> {
  if (run.title) console.log(`\n-- ${run.title} --`)
  const [temporary, results, report] = ['tmp', 'results.json', 'needs.jsonl'].map((name) => join(run.folder, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [run.folder, temporary, join(run.folder, 'home')]) {
    mkdirSync(folder)
    if (run.launcher.length > 0) chownSync(folder, ORDINARY.uid, ORDINARY.gid)
  }
  const within = (path: string) => (path.startsWith(`${root}/`) ? join(run.tree, relative(root, path)) : path)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const command = [
    ...run.launcher,
    within(process.execPath),
    join(run.tree, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...reporters,
    ...run.options,
    ...options,
    ...run.files,
  ]
  const env = { ...run.env, TMPDIR: temporary, REWIND_TEST_REPORT: report, REWIND_REQUIRE: run.require.join(',') }
  const exitCode = await runToTheEnd(command, env)
  return { title: run.title, ...countsIn(results), exitCode, report: linesIn(report) }
}

function runToTheEnd([program = '', ...rest]: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, rest, { cwd: root, env, stdio: 'inherit' })
  // A terminal's Ctrl-C reaches vitest by itself; stay alive to tidy up after it.
  const onInterrupt = () => {
    calledOff = true
  }
  const onTerminate = () => {
    calledOff = true
    child.kill('SIGTERM')
  }
  process.on('SIGINT', onInterrupt)
  process.on('SIGTERM', onTerminate)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.off('SIGINT', onInterrupt)
      process.off('SIGTERM', onTerminate)
      resolve(signal === null ? (code ?? 1) : 1)
    })
  })
}

function countsIn(results: string): Pick<Outcome, 'passed' | 'failed' | 'skipped'> {
  if (!existsSync(results)) return { passed: [], failed: [], skipped: [] }
  const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
    testResults: {
      name: string
      status: string
      message: string
      assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
    }[]
  }
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const named = (...statuses: string[]) =>
    tests.filter(({ status }) => statuses.includes(status)).map(({ fullName }) => fullName)
  const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failures = assertionResults.filter((test) => test.status === 'failed')
    if (failures.length > 0 || status !== 'failed')
      return failures.map(({ fullName, failureMessages }) => ({ test: fullName, why: failureMessages[0] ?? '' }))
    return [{ test: `${relative(root, name)} (the file itself)`, why: message }]
  })
  return {
    passed: named('passed'),
    failed,
    // A name pattern leaves out what nobody asked for.
    skipped: options.some((option) => /^(-t|--testNamePattern)/.test(option))
      ? []
      : named('skipped', 'pending', 'todo'),
  }
}

function linesIn(report: string): ReportLine[] {
  if (!existsSync(report)) return []
  return readFileSync(report, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ReportLine)
}

/** Vitest's filters are what stands alone; the value of an option is given as --option=value, or after -t. */
function parseArguments(args: string[]): { options: string[]; filters: string[] } {
  const isOption = (arg: string, at: number) =>
    arg.startsWith('-') || ['-t', '--testNamePattern'].includes(args[at - 1] ?? '')
  return { options: args.filter(isOption), filters: args.filter((arg, at) => !isOption(arg, at)) }
}

function removeTree(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // An overlay's work folder is closed even to its owner.
    spawnSync('chmod', ['-R', 'u+rwX', folder])
    try {
      rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      console.error(`left behind: ${folder} (${error instanceof Error ? error.message : error})`)
    }
  }
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
