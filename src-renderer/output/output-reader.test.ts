import { expect, test } from 'vitest'
import type { Rpc } from '../host/link.ts'
import { followOutput, KEPT_BYTES, type StreamText } from './output-reader.ts'

/** A command whose stdout is what has been written so far. */
function writing() {
  let written = ''
  let ended = false
  const asked: number[] = []
  const output = async ({ offset, limit }: { offset: number; limit?: number | undefined }) => {
    asked.push(offset)
    const part = written.slice(offset, offset + (limit ?? 65_536))
    return { bytes: btoa(part), next: offset + part.length, ended }
  }
  return {
    rpc: { commands: { output } } as unknown as Pick<Rpc, 'commands'>,
    asked,
    write: (text: string) => {
      written += text
    },
    end: () => {
      ended = true
    },
  }
}

const common = { session: 's', id: 'c', stream: 'stdout', signal: new AbortController().signal } as const

test('shows what is written while it runs, and ends with the command', async () => {
  const command = writing()
  const seen: StreamText[] = []
  command.write('one ')
  const following = followOutput({
    ...common,
    rpc: command.rpc,
    known: 0,
    onText: (text) => {
      seen.push(text)
      if (seen.length === 1) {
        command.write('two')
        command.end()
      }
    },
  })
  await following
  expect(seen.at(-1)).toEqual({ text: 'one two', skipped: 0 })
})

test('of a flood only the last part is asked for and held', async () => {
  const command = writing()
  const flood = KEPT_BYTES * 3
  command.write('x'.repeat(flood))
  command.end()
  let last: StreamText | null = null
  const onText = (text: StreamText) => {
    last = text
  }
  await followOutput({ ...common, rpc: command.rpc, known: flood, onText })
  expect(command.asked[0]).toBe(flood - KEPT_BYTES)
  expect(last).toEqual({ text: 'x'.repeat(KEPT_BYTES), skipped: flood - KEPT_BYTES })
})

test('what grows beyond the kept part while watched is let go, and counted', async () => {
  const command = writing()
  command.write('a'.repeat(KEPT_BYTES))
  command.write('b'.repeat(10))
  command.end()
  let last: StreamText = { text: '', skipped: 0 }
  await followOutput({
    ...common,
    rpc: command.rpc,
    known: 0,
    onText: (text) => {
      last = text
    },
  })
  expect(last.skipped).toBe(10)
  expect(last.text.endsWith('b'.repeat(10))).toBe(true)
  expect(last.text).toHaveLength(KEPT_BYTES)
})
