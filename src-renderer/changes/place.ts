/** Where a file is looked at. */

import { keyOf } from './path-key.ts'
import type { FileRef } from './read-file.ts'
import { nameThen, type SeenChange } from './seen.ts'

/** A path at two moments. */
export interface Place {
  session: string
  change: SeenChange
  from: string
  to: string
  version: number
}

export const placeKey = ({ session, change, from, to }: Place): string =>
  `${session} ${from} ${to} ${keyOf(change)} ${change.was ? keyOf(change.was) : ''}`

/** Each side as it is asked for; null where there is no file. */
export function sidesOf({ session, change, from, to }: Place, pair: { before: unknown; after: unknown }) {
  const now = { path: change.path, rawPath: change.rawPath }
  const before = pair.before === null ? null : { session, ...(nameThen(change) ?? now), at: from }
  const after = pair.after === null ? null : { session, ...now, at: to }
  return { before, after } satisfies Record<string, FileRef | null>
}

/** A path, and the one that the file had before where it moved. */
export interface PathThenAndNow extends Pick<SeenChange, 'path' | 'rawPath'> {
  was?: Pick<SeenChange, 'path' | 'rawPath'> | undefined
}

export const pathsOf = (change: SeenChange): PathThenAndNow => ({
  path: change.path,
  rawPath: change.rawPath,
  was: nameThen(change),
})

/** The database that a log belongs to; null where it is named otherwise. */
export function withoutLog({ path, rawPath, was }: PathThenAndNow): PathThenAndNow | null {
  const now = nameWithoutLog({ path, rawPath })
  return now && { ...now, was: (was && nameWithoutLog(was)) ?? undefined }
}

function nameWithoutLog({ path, rawPath }: Pick<SeenChange, 'path' | 'rawPath'>) {
  const suffix = '-wal'
  if (!path.endsWith(suffix)) return null
  const raw = rawPath === null ? null : atob(rawPath).slice(0, -suffix.length)
  return { path: path.slice(0, -suffix.length), rawPath: raw === null ? null : btoa(raw) }
}
