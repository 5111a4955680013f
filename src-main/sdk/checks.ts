/** Whether what a caller wrote is among what a call takes; where not, what would have been. */
import { InvalidOptionError } from '../contract/errors.ts'

/** What a value has to be, in words for the caller, and whether it is that. */
export interface Check {
  readonly takes: string
  accepts(value: unknown): boolean
}

const check = (takes: string, accepts: (value: unknown) => boolean): Check => ({ takes, accepts })

const isPositive = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value > 0

export const oneOf = (...values: readonly (string | boolean)[]): Check =>
  check(values.map(shown).join(', '), (value) => values.includes(value as string | boolean))
export const text = check('a string that is not empty', (value) => typeof value === 'string' && value !== '')
/** Whether it is a good one is not for us to say. */
export const anyText = check('a string', (value) => typeof value === 'string')
export const flag = oneOf(true, false)
export const positive = check('a number above 0', isPositive)
export const positiveOrNull = check('a number above 0, or null', (value) => value === null || isPositive(value))
export const count = check('a whole number of 1 or more', (value) => Number.isSafeInteger(value) && isPositive(value))
export const countFromZero = check(
  'a whole number of 0 or more',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
)
export const duration = check('a number of 0 or more', (value) => value === 0 || isPositive(value))
export const bytes = check('a string or bytes', (value) => typeof value === 'string' || value instanceof Uint8Array)
export const textList = check(
  'a list of strings that are not empty',
  (value) => Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== ''),
)
export const callback = check('a function', (value) => typeof value === 'function')
export const command = check(
  'a string, or a list of strings (a program and its arguments)',
  (value) =>
    isText(value) || (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')),
)
export const variables = check(
  'an object of strings',
  (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
)
export const abortSignal = check('an AbortSignal', (value) => value instanceof AbortSignal)
export const date = check('a Date', (value) => value instanceof Date && !Number.isNaN(value.getTime()))
export const anything = check('anything', () => true)

export const either = (...checks: readonly Check[]): Check =>
  check(checks.map(({ takes }) => takes).join(', or '), (value) => checks.some((one) => one.accepts(value)))

/** An object that has these and no others; each may be left out unless it is required. */
export const objectOf = (fields: Record<string, Check>, ...required: readonly string[]): Check =>
  check(
    `{ ${Object.entries(fields)
      .map(([name, { takes }]) => `${name}: ${takes}`)
      .join('; ')} }`,
    (value) =>
      isObject(value) &&
      required.every((name) => value[name] !== undefined) &&
      Object.entries(value).every(
        ([name, one]) => one === undefined || (Object.hasOwn(fields, name) && fields[name]?.accepts(one) === true),
      ),
  )

export const listOf = (values: readonly string[]): Check =>
  check(
    `a list of ${values.join(', ')}`,
    (value) => Array.isArray(value) && value.length > 0 && value.every((one) => values.includes(one)),
  )

/**
 * @param call as the caller wrote it, for the error
 * @param options what was given; a value of undefined counts as left out
 * @throws InvalidOptionError naming the option and what it takes
 */
export function assertOptions(call: string, options: unknown, checks: Record<string, Check>): void {
  if (!isObject(options))
    throw new InvalidOptionError(`${call} takes an object of options, not ${shown(options)}.`, {
      nextStep: `Options are ${names(checks)}.`,
    })
  for (const [name, value] of Object.entries(options)) {
    const known = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (!known)
      throw new InvalidOptionError(`${call} has no option ${name}.`, { nextStep: `Options are ${names(checks)}.` })
    if (value !== undefined) assertValue(name, value, known)
  }
}

/** @throws InvalidOptionError naming what it takes */
export function assertValue(name: string, value: unknown, { takes, accepts }: Check): void {
  if (!accepts(value)) throw new InvalidOptionError(`${name} is ${shown(value)}, and takes: ${takes}.`)
}

const names = (checks: Record<string, Check>): string => Object.keys(checks).join(', ')

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const kind = Array.isArray(value) ? 'a list' : 'an object'
  try {
    const json = JSON.stringify(value)
    return json.length > 80 ? kind : json
  } catch {
    return kind
  }
}
