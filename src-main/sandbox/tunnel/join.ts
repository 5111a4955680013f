/** Two connections made one: bytes and ends go through as they come, and where one breaks, so does the other. */
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export function join(one: Duplex, other: Duplex): void {
  lead(one, other)
  lead(other, one)
}

function lead(from: Duplex, to: Duplex): void {
  // It may have been broken off while nobody listened, and says so once.
  if (from.destroyed) {
    cutOff(to)
    return
  }
  // What comes at once is written at once.
  from.on('data', () => {
    if (to.writableCorked > 0) return
    to.cork()
    process.nextTick(() => to.uncork())
  })
  from.pipe(to)
  from.on('error', () => cutOff(to))
  from.once('close', () => {
    if (!from.readableEnded || !from.writableFinished) cutOff(to)
  })
}

/** Whoever is at its other end is to see that it was broken off, and not that all was said. */
export function cutOff(connection: Duplex): void {
  if (connection instanceof Socket) connection.resetAndDestroy()
  else connection.destroy()
}
