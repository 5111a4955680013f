/** The changes as they are listed: a file that moved is one row, not one that went and one that came. */
import type { Change, Rename } from '../../src-main/contract/index.ts'
import { keyOf } from './path-key.ts'

export interface SeenChange extends Change {
  /** The file that it was before, where it had another name. */
  was?: Change
}

/** @param renames of which some may be beyond the listed changes: those stay what they are */
export function seen(changes: readonly Change[], renames: readonly Rename[]): SeenChange[] {
  if (renames.length === 0) return [...changes]
  const deleted = byKey(changes, 'deleted')
  const added = byKey(changes, 'added')
  const moved = new Map<Change, Change>()
  for (const { from, to } of renames) {
    const [was, is] = [deleted.get(keyOf(from)), added.get(keyOf(to))]
    if (was && is) moved.set(is, was)
  }
  const gone = new Set(moved.values())
  return changes.flatMap((change): SeenChange[] => {
    if (gone.has(change)) return []
    const was = moved.get(change)
    return was ? [renamed(change, was)] : [change]
  })
}

const byKey = (changes: readonly Change[], status: Change['status']): Map<string, Change> =>
  new Map(changes.filter((change) => change.status === status).map((change) => [keyOf(change), change]))

function renamed(change: Change, was: Change): SeenChange {
  const modes = was.modes && change.modes && { before: was.modes.before, after: change.modes.after }
  return { ...change, status: 'modified', before: was.before, ...(modes ? { modes } : {}), was }
}

/** As the host asks for it. */
export const nameThen = ({ was }: SeenChange): Pick<Change, 'path' | 'rawPath'> | undefined =>
  was && { path: was.path, rawPath: was.rawPath }
