/**
 * Asks the worker; one worker for the window, kept. Where workers cannot be had the comparison runs here: it is
 * bounded in time, so the window stutters once rather than showing nothing.
 */
import { type CompareOptions, type Comparison, compareTexts } from './compare.ts'
import { textOf } from './text-of.ts'

/** Below this a round trip to the worker costs more than the comparison. */
const SMALL = 20_000

let worker: Worker | null | undefined
let next = 0
const encoder = new TextEncoder()
interface Waiting {
  settle(comparison: Comparison | null): void
  /** What it was asked, to be answered here where the worker dies. */
  here(): Comparison | null
}

const waiting = new Map<number, Waiting>()

function theWorker(): Worker | null {
  if (worker !== undefined) return worker
  try {
    worker = new Worker(new URL('./compare-worker.ts', import.meta.url), { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<{ id: number; comparison: Comparison | null }>) => {
      waiting.get(data.id)?.settle(data.comparison)
      waiting.delete(data.id)
    }
    worker.onerror = () => {
      worker = null
      for (const { settle, here } of waiting.values()) settle(here())
      waiting.clear()
    }
  } catch {
    worker = null
  }
  return worker
}

export function compare(before: string, after: string, options: CompareOptions): Comparison | Promise<Comparison> {
  const here = () => compareTexts(before, after, options)
  const off = before.length + after.length > SMALL ? theWorker() : null
  if (!off) return here()
  const asked = ask(off, encoder.encode(before), encoder.encode(after), options, here)
  return asked.then((comparison) => comparison ?? here())
}

/** Of files that need not be text. @returns null where one of them is none */
export async function compareBytes(
  before: Uint8Array,
  after: Uint8Array,
  options: CompareOptions,
): Promise<Comparison | null> {
  const here = () => {
    const [was, is] = [textOf(before), textOf(after)]
    return was === null || is === null ? null : compareTexts(was, is, options)
  }
  const off = theWorker()
  return off ? ask(off, before, after, options, here) : here()
}

/** As bytes: copying megabytes of text would be felt. */
function ask(
  off: Worker,
  before: Uint8Array,
  after: Uint8Array,
  options: CompareOptions,
  here: () => Comparison | null,
): Promise<Comparison | null> {
  const id = next++
  return new Promise((settle) => {
    waiting.set(id, { settle, here })
    off.postMessage({ id, before, after, options })
  })
}
