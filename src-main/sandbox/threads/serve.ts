/** The thread's side: methods by name, each answered once it is done, side by side. */
import { parentPort, type Transferable } from 'node:worker_threads'
import { InternalError, toWire } from '../../contract/errors.ts'
import type { Answer, Request } from './protocol.ts'

/** Taken over by whoever asked instead of being copied. */
export class Handover {
  readonly value: unknown
  readonly parts: readonly Transferable[]

  constructor(value: unknown, parts: readonly Transferable[]) {
    this.value = value
    this.parts = parts
  }
}

/** What they take is known to the caller's side alone. */
type Methods = Record<string, (...args: never[]) => unknown>

/** @returns how to say something unasked */
export function serveThread(methods: Methods): (notice: unknown) => void {
  const port = parentPort
  if (port === null) throw new InternalError('This module is the code of a thread.')
  const say = (answer: Answer, parts: readonly Transferable[] = []): void => port.postMessage(answer, [...parts])
  port.on('message', async ({ id, method, args }: Request) => {
    try {
      const call = methods[method] as ((...args: unknown[]) => unknown) | undefined
      if (call === undefined) throw new InternalError(`This thread has no ${method}.`)
      const value = await call(...args)
      if (value instanceof Handover) say({ id, value: value.value }, value.parts)
      else say({ id, value })
    } catch (error) {
      say({ id, error: toWire(error) })
    }
  })
  return (notice) => say({ notice })
}
