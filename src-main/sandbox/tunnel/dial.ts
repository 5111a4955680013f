/** Connections to what listens on the loopback of this process's own network. */
import { connect, type Socket } from 'node:net'

/** One that hangs, with more waiting than it can hold, takes nobody in. */
const DIAL_MS = 30_000

/**
 * By IPv4, or IPv6 where nothing listens there.
 * @param signal of whoever no longer wants it; once it is there it is theirs
 * @throws the system's error where nothing listens at all; ETIMEDOUT where nobody takes it
 */
export async function dial(port: number, signal?: AbortSignal): Promise<Socket> {
  try {
    return await reach('127.0.0.1', port, signal)
  } catch (error) {
    signal?.throwIfAborted()
    // What is said of the first way says more: there may be no IPv6 at all.
    return await reach('::1', port, signal).catch(() => {
      throw error
    })
  }
}

function reach(host: string, port: number, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true })
    const fail = (error: Error) => socket.destroy(error)
    const timer = setTimeout(
      () => fail(Object.assign(new Error('nobody takes the connection'), { code: 'ETIMEDOUT' })),
      DIAL_MS,
    )
    const unwanted = () => fail(signal?.reason)
    signal?.addEventListener('abort', unwanted)
    const settled = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', unwanted)
    }
    socket.once('error', (error) => {
      settled()
      reject(error)
    })
    socket.once('connect', () => {
      settled()
      socket.removeAllListeners('error')
      // Whoever takes it listens from here on; until then a break is no unhandled one.
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}
