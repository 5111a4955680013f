/** The thread's side: methods by name, each answered once it is done, side by side. */
import { parentPort, type Transferable } from 'node:worker_threads'
import { InternalError, toWire } from '../../contract/errors.ts'
import { carryOut, type Methods, type Request } from '../calls/index.ts'
import type { Said } from './protocol.ts'

/** Taken over by whoever asked instead of being copied. */
export class Handover {
  readonly value: unknown
  readonly parts: readonly Transferable[]

  constructor(value: unknown, parts: readonly Transferable[]) {
    this.value = value
    this.parts = parts
  }
}

/** @returns how to say something unasked */
export function serveThread(methods: Methods): (notice: unknown) => void {
  const port = parentPort
  if (port === null) throw new InternalError('This module is the code of a thread.')
  const say = (said: Said, parts: readonly Transferable[] = []): void => port.postMessage(said, [...parts])
  port.on('message', async (request: Request) => {
    const answer = await carryOut(methods, request)
    try {
      const value = 'value' in answer ? answer.value : null
      if (value instanceof Handover) say({ id: answer.id, value: value.value }, value.parts)
      else say(answer)
    } catch (error) {
      // What cannot be copied to another thread.
      say({ id: request.id, error: toWire(error) })
    }
  })
  return (notice) => say({ notice })
}
