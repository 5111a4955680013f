import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { VerificationFailedError, VerificationHaltError } from '../contract/errors.ts'
import type { SessionSummary } from '../contract/index.ts'
import { candidates } from './cli.ts'
import { separateCommand } from './command-words.ts'
import { commandLine } from './commands/exec.ts'
import { describeMessage } from './commands/messages.ts'
import { withVerdict } from './commands/rules.ts'

const session = (name: string, workspace: string, status: SessionSummary['status'] = 'running'): SessionSummary => ({
  id: name,
  name,
  workspace,
  workspaceInside: workspace,
  engine: 'local',
  engineDetail: '',
  image: null,
  scope: 'workspace' as const,
  base: 'copy',
  status,
  mode: 'interactive',
  demo: false,
  createdAt: new Date(),
  endedAt: null,
  checkpoints: 0,
  head: 'base',
  epoch: 0,
  begunBy: 'person',
  shared: false,
  bytes: null,
  pendingEscalations: 0,
  halted: false,
  notes: [],
  host: null,
})

describe('the session of a folder', () => {
  const names = (sessions: SessionSummary[], folder: string) => candidates(sessions, folder).map(({ name }) => name)

  test.each<[string, SessionSummary[], string, string[]]>([
    ['its own', [session('a', '/w'), session('b', '/other')], '/w', ['a']],
    ['that of the workspace around it', [session('a', '/w')], '/w/src/deep', ['a']],
    ['the innermost of two', [session('a', '/w'), session('b', '/w/inner')], '/w/inner/src', ['b']],
    ['not that of a folder with a longer name', [session('a', '/w')], '/work', []],
    ['not an ended one', [session('a', '/w', 'ended'), session('b', '/w', 'destroyed')], '/w', []],
    ['a halted one too', [session('a', '/w', 'halted')], '/w', ['a']],
    ['several are several', [session('a', '/w'), session('b', '/w')], '/w', ['a', 'b']],
    ['the whole machine', [session('a', '/')], '/etc', ['a']],
    ['none', [], '/w', []],
  ])('%s', (_title, sessions, folder, expected) => {
    expect(names(sessions, folder)).toEqual(expected)
  })
})

describe('what exec runs', () => {
  test('a line for the shell', () => {
    expect(commandLine(['npm test'], ['node', 'rewind', 'exec', 'npm test'])).toBe('npm test')
    expect(commandLine(['npm', 'test'], ['node', 'rewind', 'exec', 'npm', 'test'])).toBe('npm test')
  })

  test('a program with its arguments, as they are', () => {
    expect(commandLine(['sh', '-c', 'echo "$1"'], ['n', 'r', 'exec', '--', 'sh', '-c', 'echo "$1"'])).toEqual([
      'sh',
      '-c',
      'echo "$1"',
    ])
    expect(commandLine(['a', '--'], ['n', 'r', 'exec', '--', 'a', '--'])).toEqual(['a', '--'])
  })

  test('a later -- is a word of the line', () => {
    expect(commandLine(['npm', 'test', '--', '-w'], ['n', 'r', 'exec', 'npm', 'test', '--', '-w'])).toBe(
      'npm test -- -w',
    )
  })
})

describe('where a command begins', () => {
  const program = new Command('rewind').option('--json').option('--session <name>')
  program
    .command('exec')
    .argument('<command...>')
    .option('--cwd <folder>')
    .option('-t, --timeout <s>')
    .option('--quick')
  program.command('write').argument('<path>').argument('<content>')

  test.each([
    ['exec ls -la src', 'exec -- ls -la src'],
    ['exec --cwd src --quick -t 3 ls --json', 'exec --cwd src --quick -t 3 -- ls --json'],
    ['--session exec exec --cwd=src ls --cwd', '--session exec exec --cwd=src -- ls --cwd'],
    ['exec npm test -- --watch', 'exec -- npm test -- --watch'],
    ['exec -- ls -la', 'exec -- ls -la'],
    ['exec --quick', 'exec --quick'],
    ['write --json a b', 'write --json a b'],
    ['nothing known -x', 'nothing known -x'],
  ])('%s', (given, separated) => {
    expect(separateCommand(given.split(' '), program).join(' ')).toBe(separated)
  })
})

test('an undecided verifier is shown with the end of its stderr', () => {
  const rawStderr = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n')
  const halt = (data: object) =>
    new VerificationHaltError('It could not decide.', { nextStep: 'Look.', data: { ...data } })
  const shown = withVerdict(halt({ lastResult: { rawStderr } })) as VerificationHaltError
  expect(shown.message).toMatch(/^UNKNOWN It could not decide\.\n {2}Its stderr ended:\n {2}\| line 28\n/)
  expect(shown.message.endsWith('\n  | line 39')).toBe(true)
  expect([shown.nextStep, shown.exitCode]).toEqual(['Look.', 6])
  expect((withVerdict(halt({ lastResult: { rawStderr: '' } })) as Error).message).toBe('UNKNOWN It could not decide.')
  expect((withVerdict(new VerificationFailedError('bad')) as Error).message).toBe('FAIL bad')
})

test.each([
  [{ role: 'user', content: 'line\n two' }, 'user: line two'],
  [
    { role: 'assistant', content: null, tool_calls: [{ function: { name: 'write' } }, 3] },
    'assistant: [calls write, a tool]',
  ],
  [{ role: 'user', content: [{ type: 'text', text: 'hi' }, { type: 'image' }] }, 'user: hi [image]'],
  [{ role: 'tool', content: '\u001b[31mred' }, 'tool: \\x1b[31mred'],
])('a message in one line', (message, text) => {
  expect(describeMessage(message)).toBe(text)
})
