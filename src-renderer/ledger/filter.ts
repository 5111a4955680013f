/** Which rows of the ledger are in view: what a person narrows it to, and what there is to choose from. Pure. */
import type { LedgerEntry } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { clip } from '../elements/clip.ts'

/** An empty string asks nothing. */
export interface LedgerFilters {
  type: string
  /** A status, or a decision: they are one column. */
  status: string
  /** A point's id, or a target as it was named. */
  point: string
  decidedBy: string
  text: string
}

export const NO_FILTERS: LedgerFilters = { type: '', status: '', point: '', decidedBy: '', text: '' }

export const isFiltered = (filters: LedgerFilters): boolean => Object.values(filters).some((wanted) => wanted !== '')

type Outcome = Pick<LedgerEntry, 'eventType' | 'status' | 'resolution'>

/** What the status column says: the status, and a decision where one was taken. */
export const outcomeOf = ({ eventType, status, resolution }: Outcome): string =>
  // That a rollback was resolved by a rollback need not be said.
  [status, resolution === eventType ? null : resolution]
    .filter((part) => part !== null && part !== '')
    .map((part) => words(part ?? ''))
    .join(', ')

/** `commit_undo` as a person says it. */
export const words = (name: string): string => name.replaceAll('_', ' ')

export function matching(entries: readonly LedgerEntry[], filters: LedgerFilters): readonly LedgerEntry[] {
  if (!isFiltered(filters)) return entries
  const { type, status, point, decidedBy } = filters
  const text = filters.text.trim().toLocaleLowerCase()
  return entries.filter(
    (entry) =>
      (type === '' || entry.eventType === type) &&
      (status === '' || entry.status === status || entry.resolution === status) &&
      (point === '' || entry.point === point || entry.checkpoint === point) &&
      (decidedBy === '' || entry.decidedBy === decidedBy) &&
      (text === '' || holds(entry, text)),
  )
}

const holds = (entry: LedgerEntry, text: string): boolean =>
  [entry.notes, entry.rawOutput, entry.checkpoint, entry.point, entry.decidedBy, outcomeOf(entry), entry.hash].some(
    (field) => field?.toLocaleLowerCase().includes(text) === true,
  ) || words(entry.eventType).includes(text)

/** A list of ten thousand names to choose from helps nobody; free text finds the others. */
const MOST_CHOICES = 300

export type Choices = Record<Exclude<keyof LedgerFilters, 'text'>, string[]>

/** Values that occur, so that no choice leads to nothing; of the points the newest. */
export function choicesOf(entries: readonly LedgerEntry[]): Choices {
  const types = new Set<string>()
  const statuses = new Set<string>()
  const points = new Set<string>()
  const deciders = new Set<string>()
  for (const { eventType, status, resolution, point, checkpoint, decidedBy } of entries.toReversed()) {
    types.add(eventType)
    for (const outcome of [status, resolution]) if (outcome) statuses.add(outcome)
    for (const name of [checkpoint, point]) if (name && points.size < MOST_CHOICES) points.add(name)
    if (decidedBy) deciders.add(decidedBy)
  }
  return { type: [...types].sort(), status: [...statuses].sort(), point: [...points], decidedBy: [...deciders].sort() }
}

/** What the first row is chained to. */
const ROOT = '0'.repeat(64)

/** The hash that a row's own one covers; null where the row before it is missing. */
export const previousHash = (entries: readonly LedgerEntry[], id: number): string | null =>
  id === 1 ? ROOT : (entries.find((entry) => entry.id === id - 1)?.hash ?? null)

/** The object that a verifier printed, indented; null where there is no single one to be found. */
export function verdictJson(output: string): string | null {
  const found = [output, ...output.split('\n')].map(parsed).find((value) => value !== null)
  return found === undefined || found === null ? null : JSON.stringify(found, null, 2)
}

function parsed(text: string): object | null {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return null
  try {
    const value: unknown = JSON.parse(trimmed)
    return typeof value === 'object' && value !== null && 'status' in value ? value : null
  } catch {
    return null
  }
}

/** How a row is spoken: `verification, fail, stable, 3 tests fail, 2 minutes ago`. */
export const spokenEntry = (entry: LedgerEntry, ago: string): string =>
  [words(entry.eventType), outcomeOf(entry), entry.checkpoint, oneLine(entry.notes), by(entry), ago]
    .filter((part) => part !== null && part !== '')
    .map((part) => visibleName(part ?? '').slice(0, 200))
    .join(', ')

const by = ({ decidedBy }: LedgerEntry): string => (decidedBy ? `decided by ${decidedBy}` : '')

/** All of a text in one line, as far as a line goes. */
export const oneLine = (text: string | null): string =>
  clip(text ?? '', 512)
    .text.replace(/\s+/g, ' ')
    .trim()
