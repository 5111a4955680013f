/** The rules of a session as a person types them, and back. */
import type { CommandLine, RollbackEvent, Rules, VerifierSpec } from '../../src-main/contract/index.ts'
import { shown } from '../elements/format.ts'

export interface RulesForm {
  checkpoints: boolean
  /** Empty: all of them. */
  keepLast: string
  rollbacks: boolean
  exception: boolean
  testFailure: boolean
  to: string
  verifier: string
  retries: string
  /** Seconds. */
  delay: string
  /** Seconds; empty: no limit. */
  timeout: string
  /** GB; empty: no limit. */
  budget: string
}

export type Field = keyof RulesForm

/** What is to be asked of the host; what stays as it is left out. */
export interface RulesWanted {
  autoCheckpoint?: { on: boolean; keepLast: number | null }
  autoRollback?: { on: boolean; events: RollbackEvent[]; to: string | null; verifier: VerifierSpec | null }
  retention?: { budgetBytes: number | null }
}

const GB = 1_000_000_000
const VERIFIER = { retries: 3, retryDelayMs: 2_000, timeoutMs: 30_000 }

const text = (value: number | null | undefined, unit = 1): string =>
  value === null || value === undefined ? '' : String(value / unit)

export function formOf({ autoCheckpoint, autoRollback, retention }: Rules): RulesForm {
  const verifier = autoRollback?.verifier ?? null
  const { retries, retryDelayMs, timeoutMs } = verifier ?? VERIFIER
  return {
    checkpoints: autoCheckpoint !== null,
    keepLast: text(autoCheckpoint?.keepLast),
    rollbacks: autoRollback !== null,
    exception: autoRollback?.events.includes('exception') ?? true,
    testFailure: autoRollback?.events.includes('test_failure') ?? false,
    to: autoRollback?.to ?? 'latest',
    verifier: verifier === null ? '' : shown(verifier.command),
    retries: text(retries),
    delay: text(retryDelayMs, 1000),
    timeout: text(timeoutMs, 1000),
    budget: text(retention.budgetBytes, GB),
  }
}

type Problems = Partial<Record<Field, string>>

export type ReadForm = { ok: true; wanted: RulesWanted } | { ok: false; problems: Problems }

export type ReadVerifier = { ok: true; verifier: VerifierSpec } | { ok: false; problems: Problems }

/** The verifier as it is typed, saved or not. @param rules as they stand */
export function readVerifier(form: RulesForm, rules: Rules): ReadVerifier {
  const problems: Problems = {}
  const { needed, number } = numbersOf(form, problems)
  const command = form.verifier.trim()
  if (command === '') problems.verifier = 'A command is needed.'
  const verifier = {
    command: sameCommand(command, rules.autoRollback?.verifier?.command) ?? command,
    retries: needed('retries', isWhole(0), 'A whole number from 0 on.'),
    retryDelayMs: needed('delay', (value) => value >= 0, 'Seconds, 0 or more.') * 1000,
    timeoutMs: inMs(number('timeout', (value) => value > 0, 'Seconds above 0, or nothing.')),
  }
  return Object.keys(problems).length > 0 ? { ok: false, problems } : { ok: true, verifier }
}

/** @param rules as they stand: only what differs is wanted */
export function readForm(form: RulesForm, rules: Rules): ReadForm {
  const problems: Problems = {}
  const { number } = numbersOf(form, problems)
  const keepLast = form.checkpoints ? number('keepLast', isWhole(1), 'A whole number from 1 on, or nothing.') : null
  const budget = number('budget', (value) => value * GB >= 1, 'A number above 0, or nothing.')
  let verifier: VerifierSpec | null = null
  if (form.rollbacks) {
    const isJudged = form.verifier.trim() !== ''
    if (!form.exception && !form.testFailure) problems.exception = 'Choose at least one.'
    if (form.testFailure && !isJudged) problems.verifier = 'A failed verification needs a verifier.'
    if (isJudged) {
      const read = readVerifier(form, rules)
      if (read.ok) verifier = read.verifier
      else Object.assign(problems, read.problems)
    }
  }
  if (Object.keys(problems).length > 0) return { ok: false, problems }
  const events: RollbackEvent[] = [
    ...(form.exception ? ['exception' as const] : []),
    ...(form.testFailure ? ['test_failure' as const] : []),
  ]
  const autoRollback = form.rollbacks
    ? { on: true, events, to: form.to.trim() || null, verifier }
    : { on: false, events: ['exception' as const], to: null, verifier: null }
  const same = (a: Field[]): boolean => a.every((field) => formOf(rules)[field] === form[field])
  const wanted: RulesWanted = {}
  if (!same(['checkpoints', ...(form.checkpoints ? ['keepLast' as const] : [])]))
    wanted.autoCheckpoint = { on: form.checkpoints, keepLast }
  const judged = ['exception', 'testFailure', 'to', 'verifier', 'retries', 'delay', 'timeout'] as const
  if (!same(['rollbacks', ...(form.rollbacks ? judged : [])])) wanted.autoRollback = autoRollback
  if (!same(['budget'])) wanted.retention = { budgetBytes: budget === null ? null : Math.round(budget * GB) }
  return { ok: true, wanted }
}

/** Reads fields that hold numbers; what makes no sense becomes a problem of its field. */
function numbersOf(form: RulesForm, problems: Problems) {
  const number = (field: Field, valid: (value: number) => boolean, problem: string): number | null => {
    const typed = String(form[field]).trim()
    if (typed === '') return null
    const value = Number(typed)
    if (Number.isFinite(value) && valid(value)) return value
    problems[field] = problem
    return null
  }
  const needed = (field: Field, valid: (value: number) => boolean, problem: string): number => {
    if (String(form[field]).trim() === '') problems[field] = problem
    return number(field, valid, problem) ?? 0
  }
  return { number, needed }
}

const isWhole = (least: number) => (value: number) => Number.isInteger(value) && value >= least
const inMs = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000)

/** One that was given as words stays that, as long as nobody has typed another. */
const sameCommand = (typed: string, before: CommandLine | undefined): CommandLine | null =>
  before !== undefined && shown(before) === typed ? before : null
