/** Numbers on the command line, checked where they are read. */
import { InvalidOptionError } from '../contract/errors.ts'
import { visibleName } from '../contract/text.ts'

export function seconds(given: string): number {
  const number = Number(given)
  if (number > 0 && Number.isFinite(number)) return number
  throw new InvalidOptionError(`'${visibleName(given)}' is not a number of seconds above 0.`)
}

export const whole = (least: number) => (given: string) => {
  const number = Number(given)
  if (Number.isInteger(number) && number >= least) return number
  throw new InvalidOptionError(`'${visibleName(given)}' is not a whole number from ${least} on.`)
}

export function delay(given: string): number {
  const number = Number(given)
  if (given.trim() !== '' && number >= 0 && Number.isFinite(number)) return number
  throw new InvalidOptionError(`'${visibleName(given)}' is not a number of seconds.`)
}

export function port(given: string): number {
  const number = Number(given)
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number
  throw new InvalidOptionError(`'${visibleName(given)}' is not a port.`, {
    nextStep: 'A port is a number from 1 to 65535.',
  })
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 }

/** `500MB`, `2 GB`, a number of bytes; `none` is null. */
export function size(given: string): number | null {
  if (given.trim().toLowerCase() === 'none') return null
  const [, number = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*$/i.exec(given) ?? []
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? 0))
  if (bytes > 0 && Number.isSafeInteger(bytes)) return bytes
  throw new InvalidOptionError(`'${visibleName(given)}' is not a size.`, {
    nextStep: 'Give something like 500MB or 10GB, or none for no limit.',
  })
}
