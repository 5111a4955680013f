/** The sources of what runs in a page, and the codec on this side of it. */
import { readFileSync } from 'node:fs'

export const PRELOAD_WORLD = 'electron-preload'

const source = (name: string): string => readFileSync(new URL(`./worlds/${name}`, import.meta.url), 'utf8')
const codecSource = source('codec.js').trim().replace(/^;/, '')

/** Values as the structured clone carries them, in text: that is all that CDP's bindings take. */
export const codec = new Function(`return ${codecSource}`)() as {
  encode(value: unknown): string
  decode(text: string): unknown
}

/** Runs in the page's own world: receives what the preload exposes. */
export const pageSource = `{const codec=${codecSource};${source('page.js')}}`

/** Runs in an isolated world, as a preload does under contextIsolation. */
export function preloadSource(preload: string): string {
  const info = { platform: process.platform, versions: { ...process.versions, electron: 'stand-in' } }
  const given = `const codec=${codecSource};const info=${JSON.stringify(info)};const preload=${JSON.stringify(preload)};`
  return `{${given}${source('preload.js')}}`
}
