/** What clients may ask of the host: one contract over message port, WebSocket and the local socket. */
import { eventIterator, oc } from '@orpc/contract'
import { z } from 'zod'
import {
  BranchResult,
  ChosenHunks,
  ChosenPath,
  CommitHunks,
  CommitPreview,
  CommitRecord,
  CommitResult,
  PatchPart,
} from './commit.ts'
import { DatabasePair } from './database.ts'
import { EscalationRule, escalations } from './escalations.ts'
import { SessionEvent } from './events.ts'
import { MAIN } from './format-names.ts'
import {
  Activity,
  AutoRollback,
  BaseChoice,
  Change,
  Check,
  CommandLine,
  CommandRecord,
  CommandResult,
  Conversation,
  ConversationKey,
  ConversationSummary,
  EngineChoice,
  EnginesOffer,
  FileCounts,
  FilePair,
  FolderRequest,
  GivenMessages,
  ImageName,
  ImageProgress,
  LedgerCheck,
  LedgerEntry,
  LedgerFormat,
  LineTotals,
  Message,
  MessageFormat,
  Missed,
  OpenedPort,
  Place,
  Point,
  PortNumber,
  ProcessInfo,
  PruneResult,
  Rename,
  RetentionRule,
  RewindPreview,
  RollbackEvent,
  RollbackResult,
  Rules,
  RulesSet,
  SandboxScope,
  SessionMode,
  SessionSummary,
  Synced,
  TakenBy,
  TerminalSize,
  Timeline,
  TOLD,
  ToolCall,
  Validity,
  VerifierSpec,
  VerifierTrial,
} from './model.ts'
import { visibleName } from './text.ts'

/** A session's id, or the name of a live one (of an ended one where none is live). */
const SessionRef = z.object({ session: z.string().min(1) })
/**
 * For what changes a session: the epoch that the caller believes in. Where a rewind began a later one the call is
 * refused with SessionRewoundError, nothing done; left out, it is carried out whatever happened since.
 */
const ActingOn = SessionRef.extend({ epoch: z.number().int().min(0).optional() })
/** Of files of which not everything is to be committed. */
const SomeHunks = z.array(ChosenHunks).max(1_000).optional()
const Encoding = z.enum(['utf-8', 'base64'])
/** A point by label (current line first) or id; `now` is what stands in the sandbox. */
const Moment = z.string().min(1)

/** A path of the workspace; `rawPath` are its bytes where they are no text, base64. */
const OnePath = { path: z.string(), rawPath: z.string().nullable().default(null) }

/** A path at two moments; `was` where the file had another name at the first. */
const PathThenAndNow = { ...OnePath, was: z.object(OnePath).optional() }

/** Which conversation is meant, and how its messages are (or are to be) written. */
const Spoken = {
  conversation: ConversationKey.default(MAIN),
  format: MessageFormat.default('auto'),
}

/** Paths in one list of changes, unless more are asked for: more than anybody reads. */
const CHANGES_LISTED = 5_000

/** Files whose lines are counted in one answer: as many as a window shows at a time. */
const LINES_AT_ONCE = 100

/** Of a file, in one answer. */
const BYTES_AT_ONCE = 4 << 20

const RetryableId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/)
  .describe('made by the client, so that asking again after a lost connection joins the same command')

export const HostInfo = z.object({
  version: z.string(),
  pid: z.number(),
  /** `app`: Electron's main process; `headless`: plain Node. */
  kind: z.enum(['app', 'headless']),
  home: z.string(),
  startedAt: z.date(),
  /** Nothing runs and nobody is waited for: another host may take over. */
  idle: z.boolean(),
  url: z.string().nullable(),
  mcp: z.string().nullable(),
})
export type HostInfo = z.infer<typeof HostInfo>

/** A session's name stands in points' ids, in listings and in commands to copy: one line that shows all that it holds. */
const SessionName = z
  .string()
  .refine(
    (name) => name.trim() !== '' && name.length <= 64 && visibleName(name) === name && !/[/\\]/.test(name),
    'a session name has 1 to 64 characters: no invisible ones, no control characters, no / and no \\',
  )

export const SessionOptions = z.object({
  name: SessionName.default('rewind_sandbox'),
  /** Absolute host folder. */
  workspace: z.string().min(1),
  /** True where a person wrote the path out: only then may it be the home folder. */
  explicit: z.boolean().default(false),
  create: z.boolean().default(false),
  /** Begin anew where a live session of that name and workspace exists (otherwise it is attached to). */
  force: z.boolean().default(false),
  engine: EngineChoice.default('auto'),
  /** What docker runs; left out, it is the one that REWIND_IMAGE names, else the product's own. Only docker has images. */
  image: ImageName.optional(),
  /** Left out, it is the machine where the engine can, else the workspace. */
  scope: SandboxScope.optional(),
  mode: SessionMode.default('interactive'),
  base: BaseChoice.default('auto'),
  network: z.boolean().default(true),
  env: z.record(z.string(), z.string()).default({}),
  retention: RetentionRule.optional(),
  /** How long a verdict that nobody could give waits for a decision; for ever where it is left out. */
  escalation: EscalationRule.optional(),
  /** How an agent's program calls itself, for whoever is asked to allow the folder. */
  client: z.string().max(500).optional(),
})
export type SessionOptions = z.infer<typeof SessionOptions>

export const SessionDetails = SessionSummary.extend({
  /** Labels of the current line, oldest first. */
  labels: z.array(z.string()),
  messages: z.number(),
  processes: z.array(ProcessInfo),
  running: z.array(CommandRecord),
  layers: z.number(),
  rules: Rules,
  /** Against the head: what is not yet in a checkpoint. */
  uncommitted: FileCounts.nullable(),
})
export type SessionDetails = z.infer<typeof SessionDetails>

export const contract = {
  host: {
    info: oc.output(HostInfo),
    doctor: oc.output(z.array(Check)),
    /** A URL with a single-use code in its hash that opens the window in a browser; the code lives 60 s. */
    browserUrl: oc.output(z.object({ url: z.string() })),
    /** Has the window show a session, and a point of it: those that are open, or the next that is opened. */
    show: oc.input(SessionRef.extend({ at: z.string().min(1).nullable().default(null) })).output(Place),
    /**
     * What is to be shown, each time somebody asks for it, and at once what was asked for a moment ago. `after` is the
     * `wanted` of the last that a window went to.
     */
    places: oc.input(z.object({ after: z.number().nullable().default(null) })).output(eventIterator(Place)),
    /** Folders below which agents may begin sessions. */
    allowed: oc.output(z.object({ folders: z.array(z.string()) })),
    /** Opens a folder to agents, or closes it again. */
    allow: oc
      .input(z.object({ path: z.string().min(1), on: z.boolean().default(true) }))
      .output(z.object({ folders: z.array(z.string()) })),
    /** Folders that agents ask for, now and after each change. Whoever listens is there to be asked. */
    folderRequests: oc.output(eventIterator(z.array(FolderRequest))),
    answerFolder: oc.input(z.object({ id: z.string(), allow: z.boolean() })).output(z.object({ ok: z.literal(true) })),
    /** Where agents come in over HTTP, and the token that they show; `renew` makes a new one, the old is void at once. */
    mcp: oc
      .input(z.object({ renew: z.boolean().default(false) }))
      .output(z.object({ url: z.string().nullable(), token: z.string() })),
    /** Ends the host so that the caller can take over. Refused while it is not idle, unless forced. */
    handOver: oc.input(z.object({ force: z.boolean().default(false) })).output(z.object({ ok: z.literal(true) })),
  },
  sessions: {
    list: oc.output(z.array(SessionSummary)),
    get: oc.input(SessionRef).output(SessionDetails),
    create: oc
      .input(SessionOptions)
      .output(z.object({ session: SessionSummary, attached: z.boolean(), created: z.boolean() })),
    /** Processes and mounts gone, layers kept. */
    end: oc.input(SessionRef).output(SessionSummary),
    /** Layers gone too; record, messages and ledger stay. */
    destroy: oc.input(ActingOn).output(SessionSummary),
    /**
     * Has a halted session go on: because a verifier (the mended one, which the rule has from then on) says pass, or, without
     * one, because a person waives the verdict.
     */
    resume: oc
      .input(
        SessionRef.extend({
          /** What is left out is as the rule's verifier has it. */
          verifier: z
            .object({
              command: CommandLine,
              retries: z.number().int().min(0).optional(),
              retryDelayMs: z.number().min(0).optional(),
              timeoutMs: z.number().positive().nullable().optional(),
            })
            .nullable()
            .default(null),
          note: z.string().max(4_000).nullable().default(null),
        }),
      )
      .output(z.object({ session: SessionSummary, text: z.string().nullable() })),
    /**
     * Holds every process in the sandbox still, and refuses commands and files with SessionPausedError, until `unpause`.
     * Checkpoints, rewinds (which leave it paused) and whatever only looks go on.
     */
    pause: oc.input(SessionRef).output(SessionSummary),
    unpause: oc.input(SessionRef).output(SessionSummary),
    /** Opens a session that a person began to agents, or closes it to them. */
    share: oc.input(SessionRef.extend({ on: z.boolean().default(true) })).output(SessionSummary),
    demo: oc.input(z.object({ engine: EngineChoice.default('auto') }).optional()).output(SessionSummary),
  },
  engines: {
    offer: oc.output(EnginesOffer),
    /**
     * Has an image made or pulled where it is missing (null: the one that sandboxes get by default), and tells how far it
     * is until it is there. Whoever asks for the same joins; when the last of them leaves, it is called off.
     */
    image: oc.input(z.object({ name: ImageName.nullable().default(null) })).output(eventIterator(ImageProgress)),
    /** How far an image is that is being made by now; null where none of that name is. */
    making: oc.input(z.object({ name: ImageName.nullable().default(null) })).output(ImageProgress.nullable()),
  },
  timeline: {
    get: oc.input(SessionRef).output(Timeline),
    checkpoint: oc
      .input(
        ActingOn.extend({
          label: z.string().nullable().default(null),
          why: z.string().nullable().default(null),
          messages: GivenMessages.nullable().default(null),
          ...Spoken,
          takenBy: TakenBy.default('you'),
        }),
      )
      .output(Point),
    preview: oc.input(SessionRef.extend({ to: Moment })).output(RewindPreview),
    rollback: oc
      .input(
        ActingOn.extend({
          to: Moment.default('latest'),
          only: z.enum(['files', 'messages']).nullable().default(null),
          patchNotes: z.string().nullable().default(null),
          /** Of the main conversation's messages in the answer; `auto` is as they are kept. */
          format: MessageFormat.default('auto'),
        }),
      )
      .output(RollbackResult),
    undo: oc.input(ActingOn.extend({ format: MessageFormat.default('auto') })).output(RollbackResult),
    /** What was rewound since an epoch. */
    missed: oc.input(SessionRef.extend({ since: z.number().int().min(0) })).output(Missed),
    /**
     * What a client has missed that comes and goes with each of its calls (the command line): asked for, it counts as
     * heard. Null where that is nothing, or where it comes for the first time.
     */
    unheard: oc.input(SessionRef.extend({ client: z.string().min(1).max(200) })).output(Missed.nullable()),
    /** A pinned point is never pruned. */
    pin: oc.input(SessionRef.extend({ point: Moment, on: z.boolean().default(true) })).output(Point),
    /** Removes points by name, or all but the newest `keep`. Base, head, pinned points and targets of undo and rules stay. */
    prune: oc
      .input(
        SessionRef.extend({
          points: z.array(Moment).default([]),
          keep: z.number().int().min(0).nullable().default(null),
        }),
      )
      .output(PruneResult),
    /** Frees what is still held of points that are gone. */
    gc: oc.input(SessionRef).output(PruneResult),
  },
  files: {
    write: oc
      .input(
        ActingOn.extend({
          path: z.string(),
          content: z.string(),
          encoding: Encoding.default('utf-8'),
          tool: z.string().nullable().default(null),
        }),
      )
      .output(z.object({ path: z.string(), target: z.string() })),
    /** UTF-8 text where the bytes are that, else base64; `encoding` insists on one. */
    read: oc
      .input(
        SessionRef.extend({ path: z.string(), at: Moment.default('now'), encoding: Encoding.nullable().default(null) }),
      )
      .output(z.object({ content: z.string(), encoding: Encoding })),
    /** At most `limit` paths (null: all of them); `counts` are of all in any case. */
    changes: oc
      .input(
        SessionRef.extend({
          from: Moment,
          to: Moment.default('now'),
          limit: z.number().int().positive().nullable().default(CHANGES_LISTED),
        }),
      )
      .output(
        z.object({
          from: z.string(),
          to: z.string(),
          changes: z.array(Change),
          counts: FileCounts,
          truncated: z.boolean(),
        }),
      ),
    /**
     * Files that moved, by the path that they have now. Bounded: of very many or very large ones not all are found, and
     * `changes` has each as what was deleted and what was added in any case.
     */
    renames: oc
      .input(SessionRef.extend({ from: Moment, to: Moment.default('now') }))
      .output(z.object({ renames: z.array(Rename) })),
    /** Lines added and taken away in a few files, in their order; null for what is no text, or too much of it. */
    lines: oc
      .input(
        SessionRef.extend({
          from: Moment,
          to: Moment.default('now'),
          paths: z.array(z.object(PathThenAndNow)).max(LINES_AT_ONCE),
        }),
      )
      .output(z.array(LineTotals.nullable())),
    /** Both sides of one path; `rawPath` where the change has one. Large ones are read by `bytes`. */
    pair: oc.input(SessionRef.extend({ ...PathThenAndNow, from: Moment, to: Moment.default('now') })).output(FilePair),
    /** A part of a file as it was, byte for byte; `rawPath` where the change has one. No symlink is followed. */
    bytes: oc
      .input(
        SessionRef.extend({
          ...OnePath,
          at: Moment.default('now'),
          offset: z.number().int().min(0).default(0),
          limit: z.number().int().min(1).max(BYTES_AT_ONCE).default(BYTES_AT_ONCE),
        }),
      )
      /** base64, and where to go on: null where that was the end. */
      .output(z.object({ bytes: z.string(), next: z.number().nullable() })),
    /** Both sides of a SQLite database as tables, with what a `-wal` beside it holds. `path` is the database's own. */
    database: oc
      .input(SessionRef.extend({ ...PathThenAndNow, from: Moment, to: Moment.default('now') }))
      .output(DatabasePair),
  },
  messages: {
    /** In another format than the one it is kept in, what cannot be expressed is left out and named in its notes. */
    get: oc.input(SessionRef.extend({ at: Moment.default('now'), ...Spoken })).output(Conversation),
    /** The conversations that there are, or that a point holds; `main` first. */
    list: oc.input(SessionRef.extend({ at: Moment.default('now') })).output(z.array(ConversationSummary)),
    /** Whether each provider would take a history. */
    validity: oc
      .input(SessionRef.extend({ at: Moment.default('now'), conversation: Spoken.conversation }))
      .output(z.array(Validity)),
    /** Replaces a conversation. A revision or an epoch that is no longer the present one is refused with the history to use. */
    sync: oc
      .input(ActingOn.extend({ messages: GivenMessages, ...Spoken, revision: z.number().nullable().default(null) }))
      .output(Synced),
  },
  commands: {
    /** Starts a command and returns at once; the same id again joins the one that runs. */
    start: oc
      .input(
        ActingOn.extend({
          id: RetryableId,
          command: CommandLine,
          cwd: z.string().nullable().default(null),
          /** `root` may install packages: a person's to ask for, in a sandbox of docker's whose scope is the machine. */
          user: z.enum(['agent', 'root']).optional(),
          env: z.record(z.string(), z.string()).default({}),
          /** base64 */
          stdin: z.string().nullable().default(null),
          timeoutMs: z.number().positive().nullable().default(null),
          /** Gives it a terminal of that size: all that it shows is then its stdout. */
          terminal: TerminalSize.optional(),
          asTool: z.boolean().default(false),
          tool: z.string().nullable().default(null),
          /** No tool call, but the exception rule acts on its failure all the same. */
          guarded: z.boolean().optional(),
        }),
      )
      .output(CommandRecord),
    wait: oc.input(SessionRef.extend({ id: RetryableId })).output(CommandResult),
    stop: oc.input(SessionRef.extend({ id: RetryableId })).output(CommandRecord),
    get: oc.input(SessionRef.extend({ id: RetryableId })).output(CommandRecord),
    list: oc.input(SessionRef).output(z.array(CommandRecord)),
    /** At most `limit` bytes from `offset`, base64. */
    output: oc
      .input(
        SessionRef.extend({
          id: RetryableId,
          stream: z.enum(['stdout', 'stderr']),
          offset: z.number().int().min(0),
          limit: z
            .number()
            .int()
            .min(1)
            .max(1 << 20)
            .default(65_536),
        }),
      )
      .output(z.object({ bytes: z.string(), next: z.number(), ended: z.boolean() })),
    /** Output from `offset` on as it comes, base64, until the command has ended and all of it was told. */
    follow: oc
      .input(
        SessionRef.extend({ id: RetryableId, stream: z.enum(['stdout', 'stderr']), offset: z.number().int().min(0) }),
      )
      .output(eventIterator(z.object({ bytes: z.string(), next: z.number() }))),
    /** Types on its terminal, base64. What comes after its end is dropped. */
    type: oc.input(SessionRef.extend({ id: RetryableId, bytes: z.string() })).output(z.void()),
    resize: oc.input(SessionRef.extend({ id: RetryableId, size: TerminalSize })).output(z.void()),
  },
  /** What lives in the sandbox now, whatever started it. */
  processes: {
    /** Nothing where the session has ended. */
    list: oc.input(SessionRef).output(Activity),
    /** Ends one process, by its key: it is asked to, and made to where it does not. False where it had ended. */
    stop: oc.input(SessionRef.extend({ key: z.string().min(1).max(100) })).output(z.object({ stopped: z.boolean() })),
  },
  /** Ports of the sandbox at this machine's loopback: for as long as the session lives, at every host, or until closed. */
  ports: {
    /** Those that are open, also where the sandbox cannot be asked what listens. */
    list: oc.input(SessionRef).output(z.array(OpenedPort)),
    /**
     * A port that is open stays as it is. At the port `at` of this machine, or where that is left out at one that is free:
     * its own number, if it can be. `shared`: the sandbox has this machine's network, and something of it listens there; it is
     * reached as it is, and nothing was opened.
     */
    open: oc
      .input(SessionRef.extend({ port: PortNumber, at: PortNumber.nullable().default(null) }))
      .output(OpenedPort.extend({ shared: z.boolean() })),
    /** Connections through it are broken off. False where it was not open. */
    close: oc.input(SessionRef.extend({ port: PortNumber })).output(z.object({ closed: z.boolean() })),
  },
  /** What agents do by tools, newest last; and for the tools themselves, to tell of it. */
  tools: {
    list: oc.input(SessionRef).output(z.array(ToolCall)),
    begin: oc
      .input(
        SessionRef.extend({
          id: RetryableId,
          client: z.string().max(500),
          tool: z.string().max(100),
          arguments: z.string().max(TOLD),
          /** How long ago it began. */
          elapsedMs: z.number().min(0).default(0),
        }),
      )
      .output(ToolCall),
    end: oc
      .input(SessionRef.extend({ id: RetryableId, status: z.enum(['done', 'failed']), result: z.string().max(TOLD) }))
      .output(ToolCall),
  },
  rules: {
    get: oc.input(SessionRef).output(Rules),
    autoCheckpoint: oc
      .input(ActingOn.extend({ on: z.boolean(), keepLast: z.number().int().min(1).nullable().default(null) }))
      .output(RulesSet),
    autoRollback: oc
      .input(
        ActingOn.extend({
          on: z.boolean(),
          events: z.array(RollbackEvent).default(['exception']),
          /** Null means latest, with a warning that it may hold the damage. */
          to: z.string().min(1).nullable().default(null),
          verifier: VerifierSpec.nullable().default(null),
        }),
      )
      .output(RulesSet),
    /**
     * Runs a verifier once, to see what it says, also while the session is halted: no rule acts on it, nobody is asked, and
     * neither ledger nor points have its verdict. What it writes stays. It is ended with the call.
     */
    tryVerifier: oc.input(ActingOn.extend({ verifier: VerifierSpec })).output(VerifierTrial),
    /** How much the session may hold on disk; what is too much is pruned at once. */
    retention: oc.input(SessionRef.extend(RetentionRule.shape)).output(Rules),
    lastAutoRollback: oc.input(SessionRef).output(AutoRollback.nullable()),
    /** An agent is about to call a tool: its history so far, and the automatic checkpoint where the rule is on. */
    onToolCall: oc
      .input(
        ActingOn.extend({
          messages: GivenMessages.nullable().default(null),
          ...Spoken,
          tool: z.string().nullable().default(null),
        }),
      )
      .output(z.object({ checkpoint: z.string().nullable() })),
    /**
     * A tool has answered: its history so far, and what went wrong, which the exception rule looks at. `messages` of the
     * answer is the history of that conversation to go on with where a rollback was made, else null.
     */
    onToolResult: oc
      .input(
        ActingOn.extend({
          messages: GivenMessages.nullable().default(null),
          ...Spoken,
          error: z.string().nullable().default(null),
          tool: z.string().nullable().default(null),
        }),
      )
      .output(z.object({ messages: z.array(Message).nullable(), autoRollback: AutoRollback.nullable() })),
    /** An agent's own hook says that a turn is over, or a step about to be taken: a point where files changed since. */
    onTurn: oc
      .input(SessionRef.extend({ agent: z.string().min(1).max(100) }))
      .output(z.object({ checkpoint: z.string().nullable() })),
    /**
     * Runs the verifier (or judges `command`). Resolves on pass alone, with the formatted verdict, and the object that was
     * printed where a verifier judged.
     */
    runTests: oc
      .input(ActingOn.extend({ command: CommandLine.nullable().default(null) }))
      .output(z.object({ text: z.string(), verdict: z.record(z.string(), z.unknown()).nullable() })),
  },
  escalations,
  /** To the workspace on the host. */
  commit: {
    /** What a commit of these paths (null: all) would write, and what stands in its way. */
    preview: oc
      .input(SessionRef.extend({ paths: z.array(ChosenPath).nullable().default(null), hunks: SomeHunks }))
      .output(CommitPreview),
    /** What of a file that differs can be committed by itself. */
    hunks: oc.input(SessionRef.extend(ChosenPath.shape)).output(CommitHunks),
    apply: oc
      .input(
        ActingOn.extend({
          paths: z.array(ChosenPath).nullable().default(null),
          /** Goes before `paths`, and needs no path there. */
          hunks: SomeHunks,
          /** The sandbox's side wins where both changed. */
          force: z.boolean().default(false),
          /** Leaves out what is in conflict, or cannot be written. */
          skipConflicts: z.boolean().default(false),
        }),
      )
      .output(CommitResult),
    /**
     * Takes the last commit that stands back from the host; `id` insists on one. With `force` also where points of a
     * session cannot keep what they show.
     */
    undo: oc
      .input(SessionRef.extend({ id: z.string().nullable().default(null), force: z.boolean().default(false) }))
      .output(CommitResult),
    /** Oldest first. */
    list: oc.input(SessionRef).output(z.array(CommitRecord)),
    /** The same changes as a patch that `git apply` takes, in parts. */
    patch: oc
      .input(SessionRef.extend({ paths: z.array(ChosenPath).nullable().default(null) }))
      .output(eventIterator(PatchPart)),
    /** The same changes as one commit on a new branch of the host's repository, beside what is checked out there. */
    branch: oc
      .input(
        ActingOn.extend({
          name: z.string().min(1).max(200),
          message: z.string().nullable().default(null),
          paths: z.array(ChosenPath).nullable().default(null),
        }),
      )
      .output(BranchResult),
  },
  ledger: {
    list: oc
      .input(
        SessionRef.extend({
          checkpoint: z.string().nullable().default(null),
          type: z.string().nullable().default(null),
          status: z.string().nullable().default(null),
          /** Rows from then on. */
          since: z.date().optional(),
        }),
      )
      .output(z.array(LedgerEntry)),
    /** Recomputes the whole chain. */
    verify: oc.input(SessionRef).output(LedgerCheck),
    /** The whole ledger as one document, in pieces. */
    export: oc.input(SessionRef.extend({ format: LedgerFormat })).output(eventIterator(z.string())),
    /** The whole run on one page of HTML that needs nothing but itself, in pieces. */
    report: oc.input(SessionRef).output(eventIterator(z.string())),
  },
  /**
   * Everything that happens, from after `since` on (null: from now). The event's own id resumes it. Without `follow` it
   * ends with what has happened so far.
   */
  events: oc
    .input(z.object({ since: z.number().nullable().default(null), follow: z.boolean().default(true) }))
    .output(eventIterator(SessionEvent)),
}
