import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { InvalidOptionError } from '../contract/errors.ts'
import { settingsOf } from './options.ts'
import { RewindSession } from './session.ts'
import { Verifier } from './verifier.ts'

const refused = (work: () => unknown): InvalidOptionError => {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError)
    return error as InvalidOptionError
  }
  throw new Error('it was taken')
}

describe('options of a session', () => {
  test('have their defaults', () => {
    expect(settingsOf({}, {})).toEqual({
      name: 'rewind_sandbox',
      workspace: process.cwd(),
      workspaceNamed: false,
      explicit: false,
      escalationHandler: undefined,
      escalation: { timeoutMs: null, onTimeout: 'stop' },
      engine: 'auto',
      image: undefined,
      mode: 'interactive',
      autoCommit: false,
      destroyOnExit: true,
      scope: undefined,
      network: true,
      env: {},
      embed: false,
      base: 'auto',
      retention: undefined,
    })
  })

  test('containerName wins over name', () => {
    expect(settingsOf({ name: 'a', containerName: 'b' }, {}).name).toBe('b')
  })

  test('only a path that was written out counts as meant', () => {
    expect(settingsOf({ workspace: '.' }, {})).toMatchObject({ explicit: false, workspaceNamed: true })
    expect(settingsOf({ workspace: '/' }, {})).toMatchObject({ explicit: true, workspace: '/' })
    expect(settingsOf({ workspace: './a' }, {}).workspace).toBe(join(process.cwd(), 'a'))
  })

  test('undefined counts as left out', () => {
    expect(settingsOf({ mode: undefined, engine: undefined }, {})).toMatchObject({
      mode: 'interactive',
      engine: 'auto',
    })
  })

  test('the environment names engine and image where the caller does not', () => {
    expect(settingsOf({}, { REWIND_ENGINE: 'docker', REWIND_IMAGE: 'x' })).toMatchObject({
      engine: 'docker',
      image: 'x',
    })
    expect(settingsOf({}, { REWIND_ENGINE: 'local', REWIND_IMAGE: 'x' }).image).toBeUndefined()
    expect(settingsOf({ engine: 'local' }, { REWIND_ENGINE: 'docker' }).engine).toBe('local')
    expect(refused(() => settingsOf({}, { REWIND_ENGINE: 'podman' })).message).toContain('REWIND_ENGINE')
  })

  test.each([
    ['name', 1, 'a string'],
    ['name', '', 'a string'],
    ['containerName', null, 'a string'],
    ['workspace', '', 'a string'],
    ['workspace', 'a\0b', 'zero byte'],
    ['engine', 'podman', "'auto', 'docker', 'local'"],
    ['image', '', 'a string'],
    ['mode', 'batch', "'interactive', 'agent'"],
    ['autoCommit', 'yes', 'true, false'],
    ['destroyOnExit', 1, 'true, false'],
    ['saveProcesses', true, "'auto', false"],
    ['scope', 'disk', "'machine', 'workspace'"],
    ['network', { allow: ['example.org'] }, 'true, false'],
    ['env', { A: 1 }, 'an object of strings'],
    ['env', ['A=1'], 'an object of strings'],
    ['embed', 0, 'true, false'],
    ['base', 'clone', "'auto', 'copy', 'live'"],
    ['retention', 5, 'budgetBytes'],
    ['retention', {}, 'budgetBytes'],
    ['retention', { budgetBytes: 0 }, 'budgetBytes'],
  ])('%s: %j is refused with what it takes', (name, value, takes) => {
    const error = refused(() => new RewindSession({ [name]: value }))
    expect(error.message).toContain(name)
    expect(error.message).toContain(takes)
  })

  test('one that there is not is named, with those that there are', () => {
    const error = refused(() => new RewindSession({ onHalt: () => 'continue' } as object))
    expect(error.message).toContain('onHalt')
    expect(error.nextStep).toContain('workspace')
    expect(refused(() => new RewindSession({ constructor: 1 } as object)).message).toContain('constructor')
  })

  test.each([[null], ['agent'], [[]]])('%j is no object of options', (options) => {
    expect(refused(() => new RewindSession(options as object)).message).toContain('options')
  })
})

describe('options of a verifier', () => {
  test('have their defaults', () => {
    expect({ ...new Verifier({ command: 'check' }) }).toEqual({
      command: 'check',
      retries: 3,
      retryDelayMs: 2000,
      timeoutMs: 30_000,
    })
    expect(new Verifier({ command: ['a', 'b'], timeoutMs: null }).timeoutMs).toBeNull()
  })

  test.each([
    [{ command: '' }, 'command'],
    [{ command: [] }, 'command'],
    [{ command: 'a', retries: -1 }, 'retries'],
    [{ command: 'a', retries: 1.5 }, 'retries'],
    [{ command: 'a', retryDelayMs: -1 }, 'retryDelayMs'],
    [{ command: 'a', timeoutMs: 0 }, 'timeoutMs'],
    [{ command: 'a', timeoutMs: Number.NaN }, 'timeoutMs'],
    [{ command: 'a', timeout: 3 }, 'timeout'],
    [{}, 'command'],
  ])('%j is refused', (options, name) => {
    expect(refused(() => new Verifier(options as never)).message).toContain(name)
  })
})
