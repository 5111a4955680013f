/** Compares off the main thread: a text of megabytes must not make the window wait. */
import { type CompareOptions, compareTexts } from './compare.ts'

interface Asked {
  id: number
  before: Uint8Array
  after: Uint8Array
  options: CompareOptions
}

/** A mark at the beginning is a part of the text. */
const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

self.onmessage = ({ data: { id, before, after, options } }: MessageEvent<Asked>) => {
  self.postMessage({ id, comparison: compareTexts(text(before), text(after), options) })
}
