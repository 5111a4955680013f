/** A thread for the tests of threads. */
import { setTimeout as sleep } from 'node:timers/promises'
import { FileNotFoundError } from '../../contract/errors.ts'
import { Handover, serveThread } from './index.ts'

const say = serveThread({
  after: (ms: number, value: unknown) => sleep(ms, value),
  refuse: () => {
    throw new FileNotFoundError('gone', { nextStep: 'look elsewhere', data: { path: 'x' } })
  },
  bytes: (length: number) => {
    const bytes = new Uint8Array(length).fill(7)
    return new Handover(bytes, [bytes.buffer])
  },
  die: () => process.exit(1),
  say: (value: unknown) => say(value),
})
