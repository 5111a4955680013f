/** Compares off the main thread: a text of megabytes must not make the window wait. */
import { type CompareOptions, compareTexts } from './compare.ts'

interface Asked {
  id: number
  before: string
  after: string
  options: CompareOptions
}

self.onmessage = ({ data: { id, before, after, options } }: MessageEvent<Asked>) => {
  self.postMessage({ id, comparison: compareTexts(before, after, options) })
}
