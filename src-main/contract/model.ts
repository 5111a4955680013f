/** The nouns that host and clients share, as schemas (what arrives is parsed) and types. */
import { z } from 'zod'
import { messageFormats, storedFormats } from './format-names.ts'
import { visibleName } from './text.ts'

export const EngineName = z.enum(['local', 'docker'])
export type EngineName = z.infer<typeof EngineName>

/** `auto`: docker where an engine answers that holds the image of the sandboxes, else local. */
export const EngineChoice = z.enum(['auto', ...EngineName.options])
export type EngineChoice = z.infer<typeof EngineChoice>

/** What goes back with a rewind beside the workspace: all that the image holds, or temporary files and the home alone. */
export const SandboxScope = z.enum(['machine', 'workspace'])
export type SandboxScope = z.infer<typeof SandboxScope>

/** As docker names images. */
export const ImageName = z.string().min(1).max(255)

/** How far the making of an image is. */
export const ImageProgress = z.object({
  /** One line for a person: a step of its recipe, what a package manager says, which layers are being fetched. */
  text: z.string(),
  /** Of the whole, from 0 to 1; null where that cannot be known. */
  fraction: z.number().nullable(),
})
export type ImageProgress = z.infer<typeof ImageProgress>

const EngineOffer = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), detail: z.string() }),
  z.object({ ok: z.literal(false), reason: z.string(), remedy: z.string() }),
])

/** What a session can be begun with here. */
export const EnginesOffer = z.object({
  local: EngineOffer,
  docker: EngineOffer,
  /** The image that a sandbox of docker's gets where nobody names one; `present` is null where no engine answers. */
  image: z.object({ name: z.string(), present: z.boolean().nullable() }),
  /** What `auto` comes to, and why, as a sentence; null where neither can be used. */
  auto: z.object({ engine: EngineName.nullable(), why: z.string() }),
})
export type EnginesOffer = z.infer<typeof EnginesOffer>

export const SessionStatus = z.enum(['starting', 'running', 'paused', 'halted', 'ended', 'destroyed', 'unreachable'])
export type SessionStatus = z.infer<typeof SessionStatus>

export const SessionMode = z.enum(['interactive', 'agent'])
export type SessionMode = z.infer<typeof SessionMode>

/** What the sandbox starts from: a copy of the workspace, or the host folder itself as the lowest layer. */
export const BaseChoice = z.enum(['auto', 'copy', 'live'])
export type BaseChoice = z.infer<typeof BaseChoice>

/** Who asks: a person (window, command line) may do everything, an agent what a person opened to it. */
export const ScopeName = z.enum(['person', 'agent'])
export type ScopeName = z.infer<typeof ScopeName>

/** What became of the workspace on the host since the session began. */
export const HostState = z.object({
  /** False where it was not looked through since something may have changed. */
  checked: z.boolean(),
  /** Whether the folder itself is where it was, and no other in its place. */
  there: z.boolean(),
  /** Files and folders that are not what they were. */
  changed: z.number(),
  /** The first of them, by path; readable as in a Change. */
  changes: z.array(z.object({ path: z.string(), status: z.enum(['added', 'modified', 'deleted']) })),
})
export type HostState = z.infer<typeof HostState>

export const SessionSummary = z.object({
  /** Unique for ever; the name may be taken again by a later session. */
  id: z.string(),
  name: z.string(),
  /** Host folder, absolute. */
  workspace: z.string(),
  /** The same folder as commands in the sandbox see it. */
  workspaceInside: z.string(),
  engine: EngineName,
  /** How the engine runs here, in words for a person: 'namespaces as root', 'user namespaces'. */
  engineDetail: z.string(),
  /** The image that it runs in; null in the local engine, which has none. */
  image: z.string().nullable().default(null),
  scope: SandboxScope.default('workspace'),
  base: z.enum(['copy', 'live']),
  status: SessionStatus,
  mode: SessionMode,
  /** True for the demo, whose workspace is a scratch copy that goes with the session. */
  demo: z.boolean(),
  createdAt: z.date(),
  endedAt: z.date().nullable(),
  /** Named and automatic checkpoints, base and tips left out. */
  checkpoints: z.number(),
  head: z.string(),
  /** Raised by every rollback. */
  epoch: z.number(),
  begunBy: ScopeName,
  /** Agents may use it although a person began it. */
  shared: z.boolean(),
  /** Bytes on disk that the session's layers hold; null while not measured. */
  bytes: z.number().nullable(),
  pendingEscalations: z.number(),
  /** A verdict halts it, also where it is paused or out of reach. */
  halted: z.boolean(),
  /** What a person should know about this sandbox: a copied base, mounts not shown, no network. */
  notes: z.array(z.string()),
  /** Null while nothing is known, and of sessions that have ended. */
  host: HostState.nullable(),
})
export type SessionSummary = z.infer<typeof SessionSummary>

export const FileCounts = z.object({ added: z.number(), modified: z.number(), deleted: z.number() })
export type FileCounts = z.infer<typeof FileCounts>

export const VerdictStatus = z.enum(['pass', 'fail', 'unknown'])
export type VerdictStatus = z.infer<typeof VerdictStatus>

export const Verdict = z.object({ status: VerdictStatus, text: z.string(), at: z.date() })
export type Verdict = z.infer<typeof Verdict>

export const TakenBy = z.enum(['you', 'agent', 'auto'])
export type TakenBy = z.infer<typeof TakenBy>

/**
 * A node of the timeline. `base` is the workspace as it was; `checkpoint` was asked for by a person, an agent
 * or a rule; `tip` is what a rollback left behind, frozen so that it can be gone back to.
 */
export const Point = z.object({
  /** `NAME-ckpt-N`, or `base`. */
  id: z.string(),
  session: z.string(),
  /** Order within the session: 0 is base. */
  seq: z.number(),
  kind: z.enum(['base', 'checkpoint', 'tip']),
  label: z.string().nullable(),
  parent: z.string().nullable(),
  at: z.date(),
  takenBy: TakenBy,
  why: z.string().nullable(),
  /** The tool call that an automatic checkpoint went before. */
  tool: z.string().nullable(),
  /** How many messages the point holds, over all conversations. */
  messages: z.number(),
  /** Against the parent; null until counted. */
  files: FileCounts.nullable(),
  /** Commands that were running when it was taken. */
  running: z.array(z.string()),
  verdict: Verdict.nullable(),
  coverage: z.object({ files: z.boolean(), messages: z.boolean(), processes: z.boolean() }),
  /** No pruning takes it. */
  pinned: z.boolean(),
  /** Files and folders that changed on the host since the point before, or that nobody looked; null where none did. */
  host: z.object({ checked: z.boolean(), changed: z.number() }).nullable(),
  /** What taking it cost: milliseconds, and bytes of its own layer (null until measured). */
  ms: z.number(),
  bytes: z.number().nullable(),
})
export type Point = z.infer<typeof Point>

/** What became of pruning. */
export const PruneResult = z.object({
  /** Ids of the points that are gone. */
  removed: z.array(z.string()),
  /** Bytes on disk that were freed. */
  freed: z.number(),
  /** Whether running processes hold more that could be freed: it is, once they have ended. */
  waits: z.boolean(),
})
export type PruneResult = z.infer<typeof PruneResult>

export const Timeline = z.object({
  session: z.string(),
  /** Where the session stands: new points hang below it. */
  head: z.string(),
  epoch: z.number(),
  /** Oldest first, every branch included. */
  points: z.array(Point),
  /** Where Undo rewind would go; null when nothing was rewound. */
  undo: z.string().nullable(),
})
export type Timeline = z.infer<typeof Timeline>

export const ChangeStatus = z.enum(['added', 'modified', 'deleted', 'type', 'mode'])
export type ChangeStatus = z.infer<typeof ChangeStatus>

export const EntryKind = z.enum(['file', 'folder', 'symlink', 'other'])
export type EntryKind = z.infer<typeof EntryKind>

/** One path that differs between two moments. */
export const Change = z.object({
  /** Relative to the workspace, readable: bytes that are not UTF-8 appear as \xNN, controls as \n, \t, \xNN. */
  path: z.string(),
  /** The path's bytes in base64, where `path` is not simply their text. */
  rawPath: z.string().nullable(),
  status: ChangeStatus,
  kind: EntryKind,
  /** Bytes before and after, null where the entry did not exist or is not a file. */
  before: z.number().nullable(),
  after: z.number().nullable(),
  /** Kind and permission bits as in stat(2), null where the entry did not exist. Left out where an engine cannot say. */
  modes: z.object({ before: z.number().nullable(), after: z.number().nullable() }).optional(),
})
export type Change = z.infer<typeof Change>

/** A file that was deleted here and added there with the same bytes, or most of its lines. */
const FileName = Change.pick({ path: true, rawPath: true })
export const Rename = z.object({ from: FileName, to: FileName })
export type Rename = z.infer<typeof Rename>

/** Lines that a change of text adds and takes away. */
export const LineTotals = z.object({ added: z.number(), deleted: z.number() })
export type LineTotals = z.infer<typeof LineTotals>

/** The two sides of one file: honest about what can be drawn as text. */
export const FilePair = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), before: z.string().nullable(), after: z.string().nullable() }),
  z.object({ kind: z.literal('symlink'), before: z.string().nullable(), after: z.string().nullable() }),
  z.object({ kind: z.literal('binary'), before: z.number().nullable(), after: z.number().nullable() }),
  /** Bytes before and after; ask again with `whole: true` to have it anyway. */
  z.object({ kind: z.literal('large'), before: z.number().nullable(), after: z.number().nullable() }),
])
export type FilePair = z.infer<typeof FilePair>

/**
 * A chat message (or item) as its provider writes it. It is judged, never rebuilt: what goes in comes back equal, unknown
 * fields and the order of keys included.
 */
export const Message = z.custom<{ [field: string]: unknown }>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'a message is an object',
)
export type Message = z.infer<typeof Message>

/** A history as a client hands it over: anything, since its format judges it and names the index of what it refuses. */
export const GivenMessages = z.custom<readonly Message[]>(() => true)

export const StoredFormat = z.enum(storedFormats)
export type StoredFormat = z.infer<typeof StoredFormat>

export const MessageFormat = z.enum(messageFormats)
export type MessageFormat = z.infer<typeof MessageFormat>

/** The key of a conversation: one line that shows all that it holds. */
export const ConversationKey = z
  .string()
  .refine(
    (key) => key.trim() !== '' && key.length <= 200 && visibleName(key) === key,
    'a conversation is named by 1 to 200 characters, none of them invisible or a control character',
  )

export const Repair = z.object({
  kind: z.enum(['dropped-turn', 'dropped-result', 'added-result', 'moved-result', 'dropped-reasoning']),
  /** What was done, in words. */
  note: z.string(),
})
export type Repair = z.infer<typeof Repair>

export const Conversation = z.object({
  session: z.string(),
  /** Its key: `main`, or a sub-agent's. */
  conversation: z.string(),
  /** The point whose history this is; null for now. */
  point: z.string().nullable(),
  /** How `messages` are written. */
  format: StoredFormat,
  messages: z.array(Message),
  /** Raised by every change of the current history. */
  revision: z.number(),
  /** Where the resume cue stands in `messages`; null without one. */
  cue: z.number().nullable(),
  /** Whether a strict provider would take this history; the problems where not. */
  problems: z.array(z.string()),
  /** What a conversion into `format` could not express, in words; empty where it is as it is kept. */
  notes: z.array(z.string()),
})
export type Conversation = z.infer<typeof Conversation>

/** What became of a history that was handed over. */
export const Synced = z.object({
  session: z.string(),
  conversation: z.string(),
  /** What it was taken for. */
  format: StoredFormat,
  count: z.number(),
  revision: z.number(),
})
export type Synced = z.infer<typeof Synced>

/** One of a session's conversations, without its messages. */
export const ConversationSummary = z.object({
  conversation: z.string(),
  format: StoredFormat,
  count: z.number(),
  /** Of the current history, also where a point was asked for. */
  revision: z.number(),
})
export type ConversationSummary = z.infer<typeof ConversationSummary>

/** Whether a provider would take a history, after conversion where it is written for another. */
export const Validity = z.object({
  format: StoredFormat,
  /** The rules that it breaks, in words. */
  problems: z.array(z.string()),
  /** What the conversion could not express. */
  notes: z.array(z.string()),
})
export type Validity = z.infer<typeof Validity>

export const ProcessInfo = z.object({ pid: z.number(), command: z.string() })
export type ProcessInfo = z.infer<typeof ProcessInfo>

/** A process of the sandbox, as a person looks at it. */
export const ProcessDetails = ProcessInfo.extend({
  /** Names it for as long as it lives: its pid may be another one's later. */
  key: z.string(),
  /** The command that started it, or one that it descends from; null where that is not known any more. */
  commandId: z.string().nullable(),
  startedAt: z.date(),
  /** Processor time that it has used. */
  cpuMs: z.number(),
  /** Memory that it holds. */
  rssBytes: z.number(),
})
export type ProcessDetails = z.infer<typeof ProcessDetails>

/** A TCP port that a process of the sandbox listens on. */
export const ListeningPort = z.object({
  port: z.number(),
  /** Inside: `0.0.0.0` and `::` are all of the sandbox's own. */
  address: z.string(),
  pid: z.number(),
  command: z.string(),
})
export type ListeningPort = z.infer<typeof ListeningPort>

/** The number of a TCP port. */
export const PortNumber = z.number().int().min(1).max(65_535)

/** A port of the sandbox that a person opened to this machine. */
export const OpenedPort = z.object({
  port: z.number(),
  /** The port of this machine's loopback at which it is reached. */
  at: z.number(),
  url: z.string(),
})
export type OpenedPort = z.infer<typeof OpenedPort>

/** What runs in a sandbox now, and what listens there. */
export const Activity = z.object({
  processes: z.array(ProcessDetails),
  /** `url` is where this machine reaches it; null where it is reached inside only. */
  ports: z.array(ListeningPort.extend({ url: z.string().nullable() })),
  /** By their numbers; also while nothing listens there, when a connection to it is closed at once. */
  opened: z.array(OpenedPort.extend({ listening: z.boolean() })),
})
export type Activity = z.infer<typeof Activity>

export const CommandLine = z.union([z.string(), z.array(z.string()).min(1)])
export type CommandLine = z.infer<typeof CommandLine>

/** Of a terminal, in characters. */
export const TerminalSize = z.object({
  columns: z.number().int().min(1).max(10_000),
  rows: z.number().int().min(1).max(10_000),
})
export type TerminalSize = z.infer<typeof TerminalSize>

export const CommandRecord = z.object({
  id: z.string(),
  session: z.string(),
  command: CommandLine,
  /** Tool name when it was a tool call. */
  tool: z.string().nullable(),
  /** Its failure is what the exception rule looks for, until it has. */
  guarded: z.boolean().default(false),
  startedAt: z.date(),
  endedAt: z.date().nullable(),
  /** `lost`: it ended while nobody could see how (its sandbox was killed). */
  status: z.enum(['running', 'exited', 'timed-out', 'cancelled', 'lost']),
  code: z.number().nullable(),
  signal: z.string().nullable(),
  /** Why it was cancelled, in words. */
  note: z.string().nullable(),
  stdoutBytes: z.number(),
  stderrBytes: z.number(),
  /** The size of its terminal; null where it has none. */
  terminal: TerminalSize.nullable().default(null),
})
export type CommandRecord = z.infer<typeof CommandRecord>

export const CommandResult = z.object({
  id: z.string(),
  stdout: z.string(),
  stderr: z.string(),
  /** True where the text above is only the last part; the whole can be read by `commands.output`. */
  truncated: z.boolean(),
  code: z.number().nullable(),
  signal: z.string().nullable(),
  durationMs: z.number(),
  autoRollback: z.lazy(() => AutoRollback).nullable(),
})
export type CommandResult = z.infer<typeof CommandResult>

export const RollbackEvent = z.enum(['exception', 'test_failure'])
export type RollbackEvent = z.infer<typeof RollbackEvent>

export const AutoRollback = z.object({
  event: RollbackEvent,
  /** What the rule names. */
  to: z.string(),
  /** Id of the point it resolved to. */
  checkpoint: z.string(),
  status: z.enum(['rolled_back', 'skipped_noop']),
  messages: z.array(Message),
  /** How they are written. */
  format: StoredFormat.default('openai'),
  at: z.date(),
})
export type AutoRollback = z.infer<typeof AutoRollback>

export const VerifierSpec = z.object({
  command: CommandLine,
  retries: z.number().int().min(0).default(3),
  retryDelayMs: z.number().min(0).default(2000),
  /** null: no limit. */
  timeoutMs: z.number().positive().nullable().default(30_000),
})
export type VerifierSpec = z.infer<typeof VerifierSpec>

/** Somewhere to look at in the window. */
export const Place = z.object({
  /** Its id. */
  session: z.string(),
  /** `now`, or the id of a point. */
  at: z.string(),
  /** When somebody wanted it, milliseconds since 1970; a later one is greater, always. */
  wanted: z.number(),
})
export type Place = z.infer<typeof Place>

/** What a verifier said that was tried. */
export const VerifierTrial = z.object({
  status: VerdictStatus,
  /** The verdict in words. */
  text: z.string(),
  stdout: z.string(),
  stderr: z.string(),
})
export type VerifierTrial = z.infer<typeof VerifierTrial>

/** Bytes on disk that a session may hold when nobody says otherwise. */
export const DISK_BUDGET = 10_000_000_000

export const RetentionRule = z.object({
  /** Over this, points are pruned: automatic ones first, then named ones by age. null: no limit. */
  budgetBytes: z.number().int().positive().nullable().default(DISK_BUDGET),
})
export type RetentionRule = z.infer<typeof RetentionRule>

export const Rules = z.object({
  autoCheckpoint: z
    .object({ trigger: z.literal('before_tool_call'), keepLast: z.number().int().min(1).nullable() })
    .nullable(),
  autoRollback: z
    .object({ events: z.array(RollbackEvent).min(1), to: z.string(), verifier: VerifierSpec.nullable() })
    .nullable(),
  retention: RetentionRule.default({ budgetBytes: DISK_BUDGET }),
})
export type Rules = z.infer<typeof Rules>

/** Rules as they stand, and what a person should know of them. */
export const RulesSet = z.object({ rules: Rules, warnings: z.array(z.string()) })
export type RulesSet = z.infer<typeof RulesSet>

export const LedgerEventType = z.enum([
  'verification',
  'escalation',
  'rollback',
  'commit',
  'commit_undo',
  'prune',
  'repair',
  'resume',
  'process_image',
])
export type LedgerEventType = z.infer<typeof LedgerEventType>

/** What a row's status says, by and large: a verdict, how a rollback went, or what a repair did. */
export const LedgerStatus = z.enum([
  ...VerdictStatus.options,
  'rolled_back',
  'undone',
  'skipped_noop',
  'pruned',
  'committed',
  'no_target',
  'skipped_paused',
  'waived',
  ...Repair.shape.kind.options,
])

export const LedgerEntry = z.object({
  id: z.number(),
  session: z.string(),
  timestamp: z.date(),
  eventType: LedgerEventType,
  status: z.string().nullable(),
  /** The rule's or the person's target, as it was named. */
  checkpoint: z.string().nullable(),
  /** Id of the point whose state was judged or gone back to. */
  point: z.string().nullable(),
  rawOutput: z.string().nullable(),
  notes: z.string().nullable(),
  resolution: z.string().nullable(),
  decidedBy: z.string().nullable(),
  /** SHA-256 over the previous row's hash and this row's content. */
  hash: z.string(),
})
export type LedgerEntry = z.infer<typeof LedgerEntry>

/** What a ledger can be written out as. */
export const LedgerFormat = z.enum(['json', 'csv', 'html'])
export type LedgerFormat = z.infer<typeof LedgerFormat>

/** What a recomputed chain of ledger rows came to. */
export const LedgerCheck = z.object({
  whole: z.boolean(),
  rows: z.number(),
  /** Hash of the last row; 64 zeros where there is none. */
  head: z.string(),
  /** Id of the first row that is missing or is not what was written. */
  brokenAt: z.number().nullable(),
  /** How the chain agrees with the note of its end that is kept beside the store: `missing` where there is none. */
  anchor: z.enum(['agrees', 'missing', 'differs']),
})
export type LedgerCheck = z.infer<typeof LedgerCheck>

/** What a rewind would do, computed before anything is done. */
export const RewindPreview = z.object({
  to: Point,
  /** From now to the point: what the workspace will look like afterwards, path by path. */
  changes: z.array(Change),
  counts: FileCounts,
  /** Messages that the history loses. */
  messagesLost: z.number(),
  processes: z.array(ProcessInfo),
  /** Points that leave the current line (kept as a branch). */
  pointsLeft: z.array(z.string()),
})
export type RewindPreview = z.infer<typeof RewindPreview>

export const RollbackResult = z.object({
  point: Point,
  status: z.enum(['rolled_back', 'skipped_noop']),
  /** The history of `main` to go on with, ending in the resume cue. */
  messages: z.array(Message),
  /** How `messages` are written, and what a conversion into it could not express. */
  format: StoredFormat,
  notes: z.array(z.string()),
  /** Of all conversations. */
  repairs: z.array(Repair),
  /** The histories of the other conversations to go on with, each as it is kept; empty for one that began later. */
  conversations: z.array(
    z.object({ conversation: z.string(), format: StoredFormat, messages: z.array(Message), revision: z.number() }),
  ),
  /** The point that keeps what was left; Undo rewind goes there. */
  leftAt: z.string().nullable(),
  pointsLeft: z.array(z.string()),
  /** Letter of the branch that now holds what was left; null where nothing left the line. */
  branch: z.string().nullable(),
  stopped: z.array(ProcessInfo),
  counts: FileCounts.nullable(),
  epoch: z.number(),
  ms: z.number(),
})
export type RollbackResult = z.infer<typeof RollbackResult>

/** Characters of a call's arguments or answer that are kept for whoever watches. */
export const TOLD = 4_000

/** One call of a tool by an agent, as a person who watches reads it. */
export const ToolCall = z.object({
  id: z.string(),
  session: z.string(),
  /** How the agent's program calls itself: name and version. */
  client: z.string(),
  tool: z.string(),
  /** JSON, its beginning where it is long. */
  arguments: z.string(),
  /** `lost`: its client went in its middle, or the host did. */
  status: z.enum(['running', 'done', 'failed', 'lost']),
  /** What the agent was answered, its beginning; null before. */
  result: z.string().nullable(),
  startedAt: z.date(),
  endedAt: z.date().nullable(),
})
export type ToolCall = z.infer<typeof ToolCall>

/** A rewind that moved the session, as the session remembers it. */
export const Rewind = z.object({
  /** The epoch that it began. */
  epoch: z.number(),
  at: z.date(),
  by: z.enum(['you', 'agent', 'rule']),
  /** Id and name of the point gone back to. */
  point: z.string(),
  name: z.string(),
  /** The half that moved; null where both did. */
  only: z.enum(['files', 'messages']).nullable(),
  /** The point that keeps what was left. */
  leftAt: z.string(),
})
export type Rewind = z.infer<typeof Rewind>

/** What somebody missed who last saw the session at an earlier epoch. */
export const Missed = z.object({
  /** Its id. */
  session: z.string(),
  epoch: z.number(),
  /** Oldest first. */
  rewinds: z.array(Rewind),
  /** What differs between the files that were left at the first of them and now; null where that is no longer held. */
  counts: FileCounts.nullable(),
  /** Some of the paths that differ. */
  paths: z.array(z.string()),
})
export type Missed = z.infer<typeof Missed>

/** An agent wants to begin a session in a folder that nobody has allowed yet. */
export const FolderRequest = z.object({
  id: z.string(),
  path: z.string(),
  /** How the agent's program calls itself. */
  client: z.string(),
  at: z.date(),
})
export type FolderRequest = z.infer<typeof FolderRequest>

/** One line of `doctor`: a thing the product can use, whether it is here, and the remedy where not. */
export const Check = z.object({
  /** `local`, `userns`, `browser`, `electron`, `docker`, ... */
  name: z.string(),
  ok: z.boolean(),
  detail: z.string(),
  remedy: z.string().nullable(),
})
export type Check = z.infer<typeof Check>
