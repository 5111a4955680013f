/** Compares off the main thread: a text of megabytes must not make the window wait. */
import { compareTexts } from './compare.ts'

self.onmessage = ({ data }: MessageEvent<{ id: number; before: string; after: string }>) => {
  self.postMessage({ id: data.id, comparison: compareTexts(data.before, data.after) })
}
