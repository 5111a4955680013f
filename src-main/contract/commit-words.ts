/** Why an entry of a commit is not simply written, in words. Imports no schemas, so that everybody can afford it. */
import type { CommitEntry, ConflictKind, FileStretch, ObstacleKind, WholeReason } from './commit.ts'

/** For a person, after the path: `a.txt: changed in the sandbox and on the host`. */
export const conflictText: Record<ConflictKind, string> = {
  'both-changed': 'changed in the sandbox and on the host',
  'both-added': 'added in the sandbox and on the host, and not the same',
  'deleted-on-host': 'changed in the sandbox, deleted on the host',
  'changed-on-host': 'deleted in the sandbox, changed on the host',
  'folder-in-use': 'deleted in the sandbox; on the host it holds entries that the sandbox never saw',
  'other-kind': 'the host has another kind of entry there',
  'no-folder': 'lies in what is no folder on the host any more',
}

export const obstacleText: Record<ObstacleKind, string> = {
  special: 'is a device or a socket, which is not carried over',
  'too-long': 'is a longer path than the host can open',
  mount: 'lies on another file system that is mounted in the workspace',
  'same-name': 'has a name that the host’s file system takes for another one’s',
  'linked-repository': 'leads to a repository outside the workspace',
}

/** Why hunks of a file cannot be chosen, after its name. */
export const wholeText: Record<WholeReason, string> = {
  'not-edited': 'is no file with other lines than before',
  binary: 'is not text',
  large: 'is too large',
  tangled: 'differs in too many places',
  repository: 'is part of a repository',
  'no-base': 'was changed on the host, and what it was before is not held',
}

/** null where nothing stands in the way. */
export const reasonOf = ({ conflict, obstacle }: Pick<CommitEntry, 'conflict' | 'obstacle'>): string | null =>
  obstacle !== null ? obstacleText[obstacle] : conflict !== null ? conflictText[conflict] : null

/** Whether a hunk has the same lines on both sides, which end otherwise: no line of it shows a difference. */
export const isOnlyLineEnds = ({ base, sandbox }: Pick<FileStretch, 'base' | 'sandbox'>): boolean =>
  base.length === sandbox.length && base.every((line, at) => withoutEnd(line) === withoutEnd(sandbox[at] ?? ''))

const withoutEnd = (line: string): string => line.replace(/\r?\n$/, '')
