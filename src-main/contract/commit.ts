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
  /** True where some of its hunks alone are written. */
  part: z.boolean().optional(),
})
export type CommitEntry = z.infer<typeof CommitEntry>

/** Paths as in a Change; a folder stands for all in it. */
export const ChosenPath = z.object({ path: z.string().min(1), rawPath: z.string().nullable().default(null) })
export type ChosenPath = z.infer<typeof ChosenPath>

/**
 * A stretch of a file's lines, as what was last committed, the sandbox and the host have it; lines keep their ends. Where
 * the sandbox has it otherwise it is a hunk, which goes to the host or not.
 */
export const FileStretch = z.object({
  /** `clash`: both changed it, and not to the same; `both`: the host has the sandbox's already. */
  kind: z.enum(['same', 'sandbox', 'host', 'both', 'clash']),
  /** Names a hunk of these very texts: once one of them is another, no hunk has that name. null for what is none. */
  id: z.string().nullable(),
  /** The number of its first line in each. */
  at: z.object({ base: z.number(), sandbox: z.number(), host: z.number() }),
  base: z.array(z.string()),
  sandbox: z.array(z.string()),
  host: z.array(z.string()),
  /** Lines in the midst of what is the same in all that are not listed: they would stand after so many. */
  cut: z.object({ after: z.number(), lines: z.number() }).nullable(),
})
export type FileStretch = z.infer<typeof FileStretch>

/** Why of a file there is nothing to choose. */
export const WholeReason = z.enum([
  /** Added, deleted, of another kind, or with other permissions alone. */
  'not-edited',
  'binary',
  'large',
  /** Too many differences, or too hard to align. */
  'tangled',
  /** Of a repository, which is taken whole or not at all. */
  'repository',
  /** It was changed on the host, and nothing holds what it was before. */
  'no-base',
])
export type WholeReason = z.infer<typeof WholeReason>

/** What of a file can be committed by itself. */
export const CommitHunks = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hunks'), stretches: z.array(FileStretch) }),
  z.object({ kind: z.literal('whole'), reason: WholeReason }),
])
export type CommitHunks = z.infer<typeof CommitHunks>

/** Of a file only these hunks, none for nothing of it. Where the host changed it too, they go into what it has there. */
export const ChosenHunks = ChosenPath.extend({ take: z.array(z.string()).max(1_000) })
export type ChosenHunks = z.infer<typeof ChosenHunks>

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
  /** Entries that were left out, or taken in part: not chosen, or in conflict. */
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
