/**
 * Asks the worker; one worker for the window, kept. Where workers cannot be had the comparison runs here: it is
 * bounded in time, so the window stutters once rather than showing nothing.
 */
import { type CompareOptions, type Comparison, compareTexts } from './compare.ts'

/** Below this a round trip to the worker costs more than the comparison. */
const SMALL = 20_000

let worker: Worker | null | undefined
let next = 0
const encoder = new TextEncoder()
interface Waiting {
  settle(comparison: Comparison): void
  before: string
  after: string
  options: CompareOptions
}

const waiting = new Map<number, Waiting>()

function theWorker(): Worker | null {
  if (worker !== undefined) return worker
  try {
    worker = new Worker(new URL('./compare-worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<{ id: number; comparison: Comparison }>) => {
      waiting.get(data.id)?.settle(data.comparison)
      waiting.delete(data.id)
    }
    worker.onerror = () => {
      worker = null
      for (const { settle, before, after, options } of waiting.values()) settle(compareTexts(before, after, options))
      waiting.clear()
    }
  } catch {
    worker = null
  }
  return worker
}

export function compare(before: string, after: string, options: CompareOptions): Comparison | Promise<Comparison> {
  const off = before.length + after.length > SMALL ? theWorker() : null
  if (!off) return compareTexts(before, after, options)
  const id = next++
  return new Promise((settle) => {
    waiting.set(id, { settle, before, after, options })
    // As bytes, which are handed over: copying megabytes of text would be felt.
    const [was, is] = [encoder.encode(before), encoder.encode(after)]
    off.postMessage({ id, before: was, after: is, options }, [was.buffer, is.buffer])
  })
}
