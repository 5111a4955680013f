/** Commits to the host: what one would write, what stands in its way, and what was written. */
import { z } from 'zod'
import { Change, FileCounts } from './model.ts'

/**
 * How a change of the sandbox and a change on the host meet. The host's differs from what the session began from or
 * wrote last, the sandbox's too, and not in the same way.
 */
export const ConflictKind = z.enum([
  /** Edited in both. */
  'both-changed',
  /** There was nothing; now both have something of that name. */
  'both-added',
  /** Edited in the sandbox, gone on the host. */
  'deleted-on-host',
  /** Deleted in the sandbox, edited on the host. */
  'changed-on-host',
  /** Deleted in the sandbox; on the host the folder holds what the sandbox never saw. */
  'folder-in-use',
  /** The host has another kind of entry there: a folder in a file's place, a symlink in a folder's. */
  'other-kind',
  /** Lies in what is no folder on the host any more. */
  'no-folder',
])
export type ConflictKind = z.infer<typeof ConflictKind>

/** Why an entry cannot be written at all; insisting does not help, leaving it out does. */
export const ObstacleKind = z.enum([
  /** A device or a socket. */
  'special',
  /** Deeper, or longer, than a path of the host may be. */
  'too-long',
  /** Another file system is mounted there on the host. */
  'mount',
  /** Two names that are one on the host's file system. */
  'same-name',
  /** A `.git` file that leads out of the workspace. */
  'linked-repository',
])
export type ObstacleKind = z.infer<typeof ObstacleKind>

/** One path that a commit would write or has written. */
export const CommitEntry = Change.extend({
  conflict: ConflictKind.nullable(),
  obstacle: ObstacleKind.nullable(),
  /** What a person should know before it is on the host: a symlink that leads out, a hook that would run. */
  warning: z.string().nullable(),
})
export type CommitEntry = z.infer<typeof CommitEntry>

/** Paths as in a Change; a folder stands for all in it. */
export const ChosenPath = z.object({ path: z.string().min(1), rawPath: z.string().nullable().default(null) })
export type ChosenPath = z.infer<typeof ChosenPath>

/** Another live session on the same folder whose earlier points could not keep what the commit replaces. */
export const UnkeptSession = z.object({ id: z.string(), name: z.string(), reason: z.string() })
export type UnkeptSession = z.infer<typeof UnkeptSession>

/** What a commit would do, computed before anything is done. */
export const CommitPreview = z.object({
  /** Sorted by path; those that only stand where the host already has the same are left out. */
  entries: z.array(CommitEntry),
  /** True where there are more entries than are listed. */
  truncated: z.boolean(),
  counts: FileCounts,
  conflicts: z.number(),
  obstacles: z.number(),
  /** What a person should know of the whole. */
  warnings: z.array(z.string()),
  /** Id of the point that was last committed; null where it is the workspace as it was. */
  since: z.string().nullable(),
})
export type CommitPreview = z.infer<typeof CommitPreview>

/** A commit that was made, as the session remembers it. */
export const CommitRecord = z.object({
  id: z.string(),
  session: z.string(),
  /** Id of the point whose files were written. */
  point: z.string(),
  at: z.date(),
  by: z.enum(['you', 'agent', 'rule']),
  counts: FileCounts,
  /** Entries that were left out: not chosen, or in conflict. */
  left: z.number(),
  /** When it was undone; null while it stands. */
  undoneAt: z.date().nullable(),
})
export type CommitRecord = z.infer<typeof CommitRecord>

export const CommitResult = z.object({
  /** `nothing`: the host had it all already. */
  status: z.enum(['committed', 'nothing', 'undone']),
  commit: CommitRecord.nullable(),
  /** What was written, sorted by path; only the first of very many. */
  written: z.array(CommitEntry),
  truncated: z.boolean(),
  counts: FileCounts,
  /** What was left out because it was in conflict, or cannot be written. */
  skipped: z.array(CommitEntry),
  warnings: z.array(z.string()),
  /** Names under which the sandbox's own commits were fetched into the host's repository. */
  refs: z.array(z.string()),
})
export type CommitResult = z.infer<typeof CommitResult>

export const BranchResult = z.object({
  /** The commit's id. */
  commit: z.string(),
  branch: z.string(),
  /** Entries that went into it. */
  written: z.number(),
  /** Paths that were left out as the repository ignores them. */
  ignored: z.array(z.string()),
  /** Paths that cannot be in a repository, and why. */
  skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
})
export type BranchResult = z.infer<typeof BranchResult>

/** A part of a patch; what it could not hold comes last. */
export const PatchPart = z.union([
  z.object({ text: z.string() }),
  z.object({ left: z.array(z.object({ path: z.string(), reason: z.string() })) }),
])
export type PatchPart = z.infer<typeof PatchPart>
