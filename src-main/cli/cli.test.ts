import { describe, expect, test } from 'vitest'
import type { SessionSummary } from '../contract/index.ts'
import { candidates } from './cli.ts'
import { commandLine } from './commands/exec.ts'
import { describeMessage } from './commands/messages.ts'

const session = (name: string, workspace: string, status: SessionSummary['status'] = 'running'): SessionSummary => ({
  id: name,
  name,
  workspace,
  workspaceInside: workspace,
  engine: 'local',
  engineDetail: '',
  base: 'copy',
  status,
  mode: 'interactive',
  demo: false,
  createdAt: new Date(),
  endedAt: null,
  checkpoints: 0,
  head: 'base',
  epoch: 0,
  bytes: null,
  pendingEscalations: 0,
  notes: [],
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

  test('not both', () => {
    expect(() => commandLine(['a', 'b'], ['n', 'r', 'exec', 'a', '--', 'b'])).toThrow(/not both/)
  })
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
