/** Compares off the main thread: a text of megabytes must not make the window wait. */
import { type CompareOptions, compareTexts } from './compare.ts'
import { textOf } from './text-of.ts'

interface Asked {
  id: number
  before: Uint8Array
  after: Uint8Array
  options: CompareOptions
}

self.onmessage = ({ data: { id, before, after, options } }: MessageEvent<Asked>) => {
  const [was, is] = [textOf(before), textOf(after)]
  self.postMessage({ id, comparison: was === null || is === null ? null : compareTexts(was, is, options) })
}
