/**
 * What the CLI prints and where: results to stdout, everything else to stderr, and with --json exactly one object on
 * stdout whatever happens. Texts that come from a sandbox may hold escape sequences; {@link visible} disarms them.
 */
import { type RewindError, toWire } from '../contract/errors.ts'
import { visible, visibleName } from '../contract/text.ts'

export interface OutputOptions {
  json: boolean
  quiet: boolean
}

export class Output {
  readonly json: boolean
  readonly #quiet: boolean

  constructor({ json, quiet }: OutputOptions) {
    this.json = json
    this.#quiet = quiet
  }

  /** The command's one result: data for machines, text for people. */
  result(data: unknown, text: string): void {
    if (this.json) process.stdout.write(`${JSON.stringify({ success: true, data: snakeCase(data) })}\n`)
    else if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** Part of a result that is shown as it grows; nothing with --json. */
  line(text: string): void {
    if (!this.json) process.stdout.write(`${text}\n`)
  }

  /** One of many results that come one by one: an object per line with --json, when the reader has room for it. */
  async eachLine(data: unknown, text: string): Promise<void> {
    const line = this.json ? JSON.stringify(data) : text
    if (!process.stdout.write(`${line}\n`)) await new Promise((resolve) => process.stdout.once('drain', resolve))
  }

  /**
   * Part of a result as it is, when the reader has room for it; nothing with --json. On a terminal escape sequences
   * from the sandbox are disarmed; into a pipe they go as they are.
   */
  async part(text: string): Promise<void> {
    if (this.json || text === '') return
    const { stdout } = process
    if (!stdout.write(stdout.isTTY ? visible(text) : text))
      await new Promise((resolve) => stdout.once('drain', resolve))
  }

  /** What went wrong beside the result, also for the quiet. */
  problem(text: string): void {
    process.stderr.write(`${text}\n`)
  }

  /** Progress and remarks. */
  note(text: string): void {
    if (!this.#quiet) process.stderr.write(`${text}\n`)
  }

  /** Progress that is written over the progress before, on a terminal; an empty one leaves the line clean. */
  status(text: string): void {
    if (this.#quiet) return
    const width = (process.stderr.columns ?? 80) - 1
    process.stderr.write(`\r\x1b[K${[...text].slice(0, width).join('')}`)
  }

  /** @param data what the command had to say beside its error */
  failure(error: RewindError, exitCode: number, data?: unknown): void {
    if (this.json) {
      const { code, message, nextStep, data: facts } = toWire(error)
      const { stack: _stack, ...known } = facts
      const more = data === undefined ? {} : { data: snakeCase(data) }
      process.stdout.write(
        `${JSON.stringify({
          success: false,
          error: message,
          code: exitCode,
          error_code: code,
          next_step: nextStep,
          details: snakeCase(known),
          ...more,
        })}\n`,
      )
      return
    }
    process.stderr.write(`rewind: ${visible(error.message)}\n`)
    if (error.nextStep) process.stderr.write(`  ${visibleName(error.nextStep)}\n`)
    if (exitCode === 70 && error.data.stack) process.stderr.write(`${visible(String(error.data.stack))}\n`)
  }
}

/** A value with its keys in snake_case; messages and environments keep the keys that their authors gave them. */
export function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase)
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      return [name, key === 'messages' || key === 'env' ? inner : snakeCase(inner)]
    }),
  )
}

/** Rows in columns as wide as their widest cell; the last one runs on. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** `3 files`, `1 file`. */
export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`

/** How long ago, as one would say it: `just now`, `40s ago`, `12m ago`. */
export function ago(at: Date, now: Date = new Date()): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - at.getTime()) / 1000))
  if (seconds < 10) return 'just now'
  const [size, unit] =
    seconds < 60 ? [1, 's'] : seconds < 3600 ? [60, 'm'] : seconds < 86_400 ? [3600, 'h'] : [86_400, 'd']
  return `${Math.floor(seconds / size)}${unit} ago`
}
