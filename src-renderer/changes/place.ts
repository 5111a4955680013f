/** Where a file is looked at. */
import type { Change } from '../../src-main/contract/index.ts'
import type { FileRef } from './read-file.ts'

/** A path at two moments. */
export interface Place {
  session: string
  change: Change
  from: string
  to: string
  version: number
}

export const placeKey = ({ session, change, from, to }: Place): string =>
  `${session} ${from} ${to} ${change.rawPath ?? change.path}`

/** Each side as it is asked for; null where there is no file. */
export function sidesOf({ session, change, from, to }: Place, pair: { before: unknown; after: unknown }) {
  const { path, rawPath } = change
  const side = (at: string, has: unknown): FileRef | null => (has === null ? null : { session, path, rawPath, at })
  return { before: side(from, pair.before), after: side(to, pair.after) }
}

/** The database that a log belongs to; null where it is named otherwise. */
export function withoutLog({
  path,
  rawPath,
}: Pick<Change, 'path' | 'rawPath'>): Pick<Change, 'path' | 'rawPath'> | null {
  const suffix = '-wal'
  if (!path.endsWith(suffix)) return null
  const raw = rawPath === null ? null : atob(rawPath).slice(0, -suffix.length)
  return { path: path.slice(0, -suffix.length), rawPath: raw === null ? null : btoa(raw) }
}
