import { expect, test } from 'vitest'
import { ReconnectingSocket, type SocketState } from './socket.ts'

/** Opens sockets that the test holds by hand. */
function line(hostAnswers: () => Promise<boolean>) {
  const sockets: { onopen?(): void; onclose?(): void; readyState: number; sent: string[]; send(data: string): void }[] =
    []
  const states: SocketState[] = []
  const socket = new ReconnectingSocket('ws://host/rpc', {
    onState: (state) => states.push(state),
    hostAnswers,
    open: () => {
      const made = { readyState: 0, sent: [] as string[], send: (data: string) => void made.sent.push(data) }
      sockets.push(made)
      return made as unknown as WebSocket
    },
  })
  const opened = async (count: number) => {
    while (sockets.length < count) await new Promise((resolve) => setTimeout(resolve, 10))
    return sockets[count - 1]
  }
  return { socket, states, opened }
}

test('a lost line ends the calls in flight, says CONNECTING meanwhile, and comes back', async () => {
  const { socket, states, opened } = line(async () => false)
  let closed = 0
  socket.addEventListener('close', () => closed++)
  const first = await opened(1)
  Object.assign(first ?? {}, { readyState: 1 })
  first?.onopen?.()
  expect(socket.readyState).toBe(1)
  first?.onclose?.()
  expect(socket.readyState).toBe(0)
  const second = await opened(2)
  Object.assign(second ?? {}, { readyState: 1 })
  second?.onopen?.()
  socket.send('hello')
  expect(second?.sent).toEqual(['hello'])
  expect(closed).toBe(1)
  expect(states).toEqual(['open', 'lost', 'open'])
})

test('a socket that a living host shuts at once is a refusal; one that nobody answers is not', async () => {
  const refused = line(async () => true)
  ;(await refused.opened(1))?.onclose?.()
  await expect.poll(() => refused.states).toEqual(['refused'])
  const away = line(() => Promise.reject(new TypeError('fetch failed')))
  ;(await away.opened(1))?.onclose?.()
  await expect.poll(() => away.states).toEqual(['connecting'])
})
