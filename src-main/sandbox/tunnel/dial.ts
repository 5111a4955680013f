/** Connections to what listens on the loopback of this process's own network. */
import { connect, type Socket } from 'node:net'

/** One that is paused, with more waiting than it can hold, takes nobody in. */
const DIAL_MS = 30_000

/**
 * By IPv4, or IPv6 where nothing listens there.
 * @throws the system's error where nothing listens at all
 */
export async function dial(port: number): Promise<Socket> {
  try {
    return await reach('127.0.0.1', port)
  } catch (error) {
    // What is said of the first way says more: there may be no IPv6 at all.
    return await reach('::1', port).catch(() => {
      throw error
    })
  }
}

function reach(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true })
    const timer = setTimeout(
      () => socket.destroy(Object.assign(new Error('nobody takes the connection'), { code: 'ETIMEDOUT' })),
      DIAL_MS,
    )
    socket.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      // Whoever takes it listens from here on; until then a break is no unhandled one.
      socket.on('error', () => {})
      resolve(socket)
    })
  })
}
