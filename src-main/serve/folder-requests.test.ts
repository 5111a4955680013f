import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CancelledError, type FolderRequest, InvalidOptionError, InvalidPathError } from '../contract/index.ts'
import { AllowedFolders } from './allowed-folders.ts'
import { FolderRequests } from './folder-requests.ts'

let base: string
let allowed: AllowedFolders
let requests: FolderRequests
let kept: string | null
const windows: AbortController[] = []

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'rewind-asks-')))
  kept = null
  allowed = new AllowedFolders({
    load: () => kept,
    save: (value) => {
      kept = value
    },
  })
  requests = new FolderRequests(allowed)
})
afterEach(() => {
  for (const window of windows.splice(0)) window.abort()
  rmSync(base, { recursive: true, force: true })
})

/** A window: what it shows at the moment, by path. */
async function open(): Promise<{ shown: () => string[]; request: (path: string) => FolderRequest; close: () => void }> {
  const closing = new AbortController()
  windows.push(closing)
  let now: FolderRequest[] = []
  const begun = Promise.withResolvers<void>()
  void (async () => {
    for await (const waiting of requests.follow(closing.signal)) {
      now = waiting
      begun.resolve()
    }
  })()
  await begun.promise
  return {
    shown: () => now.map(({ path }) => path),
    request: (path) => now.find((one) => one.path === path) as FolderRequest,
    close: () => closing.abort(),
  }
}

const folder = (name: string): string => {
  mkdirSync(join(base, name))
  return join(base, name)
}

test('without a window nobody is asked', async () => {
  expect(await requests.ask(folder('a'), 'agent')).toBe('nobody')
  const window = await open()
  window.close()
  await new Promise(setImmediate)
  expect(await requests.ask(join(base, 'a'), 'agent')).toBe('nobody')
})

test('a folder is asked for once, in every window, and kept', async () => {
  const path = folder('a')
  const [one, two] = [await open(), await open()]
  const answers = [requests.ask(path, 'agent 1'), requests.ask(path, 'agent 2')]
  await expect.poll(() => [one.shown(), two.shown()]).toEqual([[path], [path]])
  expect(two.request(path)).toMatchObject({ client: 'agent 1' })
  requests.answer(two.request(path).id, true)
  expect(await Promise.all(answers)).toEqual(['allowed', 'allowed'])
  await expect.poll(one.shown).toEqual([])
  expect(allowed.folders).toEqual([path])
})

test('one that was refused is not asked for again, until it is allowed', async () => {
  const path = folder('a')
  const window = await open()
  const answer = requests.ask(path, 'agent')
  await expect.poll(window.shown).toEqual([path])
  const { id } = window.request(path)
  requests.answer(id, false)
  expect(await answer).toBe('refused')
  expect(await requests.ask(path, 'agent')).toBe('refused')
  expect(window.shown()).toEqual([])
  expect(() => requests.answer(id, true)).toThrow(InvalidOptionError)
  allowed.add(path)
  allowed.remove(path)
  void requests.ask(path, 'agent')
  await expect.poll(window.shown).toEqual([path])
})

test('a question goes when it is answered by other ways, taken back, or nobody is left to ask for it', async () => {
  const window = await open()
  const inner = join(folder('a'), 'yet/to/come')
  const first = requests.ask(inner, 'agent')
  await expect.poll(window.shown).toEqual([inner])
  // Also by a folder around it.
  allowed.add(base)
  expect(await first).toBe('allowed')
  allowed.remove(base)

  const taking = new AbortController()
  const second = requests.ask(inner, 'agent', taking.signal)
  await expect.poll(window.shown).toEqual([inner])
  taking.abort()
  await expect(second).rejects.toThrow(CancelledError)
  await expect.poll(window.shown).toEqual([])

  const third = requests.ask(inner, 'agent')
  // It waits although the window goes.
  window.close()
  const late = await open()
  await expect.poll(late.shown).toEqual([inner])
  requests.close()
  expect(await third).toBe('nobody')
})

test('an agent cannot fill the window', async () => {
  const window = await open()
  const answers = Array.from({ length: 30 }, (_, n) => requests.ask(join(base, `f${n}`), 'agent'))
  expect(await answers[29]).toBe('nobody')
  await expect.poll(() => window.shown().length).toBe(8)
  requests.close()
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['nobody']))
})

test('the whole machine is not to be allowed', () => {
  expect(() => allowed.add('/')).toThrow(InvalidPathError)
  expect(allowed.folders).toEqual([])
})
