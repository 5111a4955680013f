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
