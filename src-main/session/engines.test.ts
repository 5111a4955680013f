import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { EngineUnavailableError, type ErrorData, InvalidOptionError, type RewindError } from '../contract/index.ts'
import type { Availability, SandboxProvider } from '../sandbox/index.ts'
import { productImage } from '../sandbox/index.ts'
import { createEngines, Engines } from './engines.ts'

const failureOf = async (work: Promise<unknown>): Promise<RewindError & { data: ErrorData }> => {
  const failure = await work.catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(Error)
  return failure as RewindError & { data: ErrorData }
}

describe('which engine a session gets, where docker does not answer', () => {
  const here: Availability = { ok: true, detail: 'namespaces' }
  const shut: Availability = { ok: false, reason: 'It is shut.', remedy: 'Open it.' }
  /** Providers by what they say of themselves alone. */
  const engines = (local: Availability, env: NodeJS.ProcessEnv = {}, docker: Availability = shut) => {
    const saying = (engine: 'local' | 'docker', said: Availability) =>
      ({ engine, available: async () => said }) as SandboxProvider
    return new Engines({ local: saying('local', local), docker: saying('docker', docker) }, env)
  }

  test('auto is local, and says why', async () => {
    expect(await engines(here).choose({ engine: 'auto' })).toEqual({ engine: 'local', image: null, scope: 'workspace' })
    const { auto } = await engines(here).offer()
    expect(auto).toEqual({ engine: 'local', why: 'It is shut.' })
  })

  test('where neither can run, both reasons are given', async () => {
    const failure = await failureOf(engines(shut).choose({ engine: 'auto' }))
    expect(failure).toBeInstanceOf(EngineUnavailableError)
    expect(failure.message).toContain('It is shut. It is shut.')
    expect(failure.nextStep).toBe('Open it.')
    expect(await engines(shut).checks()).toMatchObject([{ ok: false }, { ok: false }, { name: 'engine', ok: false }])
  })

  test('docker, asked for, says what is wrong with it instead of becoming local', async () => {
    const failure = await failureOf(engines(here).choose({ engine: 'docker' }))
    expect(failure).toBeInstanceOf(EngineUnavailableError)
    expect(failure.message).toContain('It is shut.')
    expect(failure.nextStep).toBe('Open it.')
  })

  test.each([
    ['an image', { image: 'debian' }],
    ['the scope machine', { scope: 'machine' as const }],
  ])('%s is a wish for docker, and none that local can fulfil', async (_, wish) => {
    expect(await failureOf(engines(here).choose({ engine: 'auto', ...wish }))).toBeInstanceOf(EngineUnavailableError)
    const refused = await failureOf(engines(here).choose({ engine: 'local', ...wish }))
    expect(refused).toBeInstanceOf(InvalidOptionError)
    expect(refused.data).toEqual({ option: Object.keys(wish)[0] })
  })

  test('REWIND_ENGINE decides where nobody says which, and is refused where it is none', async () => {
    expect(await engines(here, { REWIND_ENGINE: 'local' }, here).choose({ engine: 'auto' })).toMatchObject({
      engine: 'local',
    })
    const { message } = await failureOf(engines(here, { REWIND_ENGINE: 'podman' }).choose({ engine: 'auto' }))
    expect(message).toContain('"podman"')
  })

  test('REWIND_IMAGE is what docker runs where nobody names an image', async () => {
    const set = engines(here, { REWIND_IMAGE: 'mine:1' }, here)
    expect(await set.choose({ engine: 'docker' })).toEqual({ engine: 'docker', image: 'mine:1', scope: 'machine' })
    expect(await set.choose({ engine: 'docker', image: 'other', scope: 'workspace' })).toEqual({
      engine: 'docker',
      image: 'other',
      scope: 'workspace',
    })
  })
})

suiteNeeding(['docker'], 'which engine a session gets, where docker answers', () => {
  let home: string

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'rewind-engines-'))
  })

  afterEach(() => rmSync(home, { recursive: true, force: true }))

  test('auto is docker where it holds the image of the sandboxes', async () => {
    const engines = createEngines({ home, storeId: 'tests' }, {})
    expect(await engines.choose({ engine: 'auto' })).toEqual({
      engine: 'docker',
      image: productImage(),
      scope: 'machine',
    })
    expect(await engines.checks()).toContainEqual({
      name: 'docker',
      ok: true,
      detail: expect.stringMatching(/^docker [\d.]+.*, with the image rewind-sandbox:/),
      remedy: null,
    })
  })

  test('without it auto is local, and doctor says how to have the image', async () => {
    const engines = createEngines({ home, storeId: 'tests' }, { REWIND_IMAGE: 'nobody-has-this:1' })
    const { auto, image } = await engines.offer()
    expect(auto).toEqual({ engine: 'local', why: 'Docker does not hold the image nobody-has-this:1 yet.' })
    expect(image.present).toBe(false)
    expect(await engines.checks()).toContainEqual({
      name: 'docker',
      ok: false,
      detail: expect.stringContaining('without the image nobody-has-this:1'),
      remedy: expect.stringContaining('--engine docker'),
    })
  })
})
