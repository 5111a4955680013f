import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { activityOf, addressOf } from './activity.ts'
import { type HostProcess, readProcess } from './processes.ts'

const begun: ChildProcess[] = []
afterEach(() => {
  for (const child of begun.splice(0)) child.kill('SIGKILL')
})

async function shell(word: string, env: Record<string, string>): Promise<HostProcess> {
  const child = spawn('/bin/sh', ['-c', 'echo up; read never', word], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  begun.push(child)
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
  const found = readProcess(child.pid ?? 0)
  if (found === null) throw new Error('It has ended.')
  return found
}

test('what processes say of themselves is looked at once each, and cut', async () => {
  const long = 'x'.repeat(100_000)
  const first = await shell(long, { REWIND_COMMAND: 'one', LONG: long })
  // Of which only the first has a mark where it is looked for.
  const second = { ...(await shell('b', { LONG: long, REWIND_COMMAND: 'other' })), parent: first.pid }
  const third = { ...(await shell('c', { REWIND_COMMAND: 'unknown' })), parent: second.pid }
  const fourth = { ...(await shell('d', { REWIND_COMMAND: 'unknown' })), parent: third.pid }
  const asked: string[] = []
  const look = (most?: number) =>
    activityOf(
      [first, second, third, fourth],
      (folder) => {
        asked.push(folder)
        return folder === 'unknown' ? null : folder
      },
      ({ pid }) => pid !== third.pid,
      most,
    ).processes
  const processes = look()
  expect(processes.map(({ commandId }) => commandId)).toEqual(['one', 'one', 'one'])
  expect(asked.sort()).toEqual(['one', 'unknown', 'unknown'])
  expect(Math.max(...processes.map(({ command }) => command.length))).toBe(4097)
  expect(look(2)).toHaveLength(2)
})

test('addresses are as people write them', () => {
  expect(addressOf('0100007F')).toBe('127.0.0.1')
  expect(addressOf('00000000')).toBe('0.0.0.0')
  expect(addressOf('00000000000000000000000000000000')).toBe('::')
  expect(addressOf('00000000000000000000000001000000')).toBe('::1')
  expect(addressOf('0000000000000000FFFF00000100007F')).toBe('127.0.0.1')
  expect(addressOf('B80D0120000000000000000001000000')).toBe('2001:db8::1')
})
