/** Times, sizes and counts in few characters, the same everywhere. */
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const steps = [
  { ms: DAY_MS, short: 'd', long: 'day' },
  { ms: HOUR_MS, short: 'h', long: 'hour' },
  { ms: MINUTE_MS, short: 'm', long: 'minute' },
  { ms: SECOND_MS, short: 's', long: 'second' },
] as const

/** `12m ago`; `now` in the first second. */
export function ago(at: Date, now: number): string {
  const passed = now - at.getTime()
  const step = steps.find(({ ms }) => passed >= ms)
  return step ? `${Math.floor(passed / step.ms)}${step.short} ago` : 'just now'
}

/** `12 minutes ago`, for ears. */
export function agoSpoken(at: Date, now: number): string {
  const passed = now - at.getTime()
  const step = steps.find(({ ms }) => passed >= ms)
  if (!step) return 'just now'
  const count = Math.floor(passed / step.ms)
  return `${count} ${step.long}${count === 1 ? '' : 's'} ago`
}

/** Made once: to make one for each row of a list is felt. */
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export const absolute = (at: Date): string => dateAndTime.format(at)

/** How long something took: `11 ms`, `1.2 s`, `3m 05s`. */
export function took(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(ms > 0 ? 1 : 0, Math.round(ms))} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  return `${Math.floor(ms / MINUTE_MS)}m ${pad((ms % MINUTE_MS) / SECOND_MS)}s`
}

/** A running clock: `00:12`, `1:02:03`. */
export function clock(ms: number): string {
  const minutes = `${pad((ms % HOUR_MS) / MINUTE_MS)}:${pad((ms % MINUTE_MS) / SECOND_MS)}`
  return ms < HOUR_MS ? minutes : `${Math.floor(ms / HOUR_MS)}:${minutes}`
}

const pad = (n: number) => String(Math.floor(n)).padStart(2, '0')

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** `0 B`, `24 KB`, `1.2 GB`: powers of 1024. */
export function size(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

/** `1 file`, `1,204 files`. */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`

/** The last part of a path. */
export const leaf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** A command line as a person would type it. */
export const shown = (command: string | readonly string[]): string =>
  typeof command === 'string'
    ? command
    : command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
