import { PassThrough } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { beforeEach, expect, test } from 'vitest'
import { LineTransport } from './line-transport.ts'

let input: PassThrough
let output: PassThrough
let transport: LineTransport
let heard: JSONRPCMessage[]
let faults: string[]
let closed: number

const ping = (id: number, text = '') => ({ jsonrpc: '2.0' as const, id, method: 'ping', params: { text } })
const said = () => new Promise((resolve) => setImmediate(resolve))

beforeEach(async () => {
  ;[input, output] = [new PassThrough(), new PassThrough()]
  transport = new LineTransport(input, output, 1_000)
  heard = []
  faults = []
  closed = 0
  transport.onmessage = (message) => heard.push(message)
  transport.onerror = ({ message }) => faults.push(message)
  transport.onclose = () => closed++
  await transport.start()
})

test('messages in pieces, and several in one', async () => {
  const text = `${JSON.stringify(ping(1, 'é'))}\r\n\n${JSON.stringify(ping(2))}\n${JSON.stringify(ping(3))}\n`
  for (const byte of Buffer.from(text)) input.write(Buffer.from([byte]))
  input.write(text)
  await said()
  expect(heard).toEqual([ping(1, 'é'), ping(2), ping(3), ping(1, 'é'), ping(2), ping(3)])
  expect(faults).toEqual([])
})

test('a line that is no message is told of, and the next one heard', async () => {
  input.write(`nonsense\n{"jsonrpc":"2.0"}\n${JSON.stringify(ping(1))}\n`)
  await said()
  expect(faults).toHaveLength(2)
  expect(heard).toEqual([ping(1)])
})

test('a message that is too long ends it, once, also when the input ends after that', async () => {
  input.write('x'.repeat(600))
  await said()
  expect(closed).toBe(0)
  input.write('x'.repeat(600))
  input.end()
  await said()
  expect(faults).toEqual(['a message of more than 1000 bytes'])
  expect(closed).toBe(1)
})

test('what is sent is a line; after the end nothing is', async () => {
  await transport.send(ping(1, 'a\nb'))
  input.end()
  await said()
  await transport.send(ping(2))
  expect(closed).toBe(1)
  expect(output.read().toString()).toBe(`${JSON.stringify(ping(1, 'a\nb'))}\n`)
})

test('a reader that takes nothing is waited for', async () => {
  const text = 'x'.repeat(100_000)
  let done = false
  const sending = transport.send(ping(1, text)).then(() => {
    done = true
  })
  await said()
  expect(done).toBe(false)
  output.resume()
  await sending
})
