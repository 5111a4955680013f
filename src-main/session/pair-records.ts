/**
 * The second half of every journalled operation: what the sandbox has done becomes points, head, messages, ledger and
 * epoch, and the journal row is closed, in one transaction. It needs nothing but the intent and the outcome, so it runs
 * the same right after the operation and at recovery.
 */
import {
  branchesOf,
  currentLine,
  MAIN,
  nameOf,
  type Point,
  type ProcessInfo,
  type RollbackResult,
  type TakenBy,
} from '../contract/index.ts'
import { formatOf, rewindHistory } from '../memory/index.ts'
import type { CheckpointOutcome, FilesState, RollbackOutcome } from '../sandbox/index.ts'
import type { Pinned } from '../store/index.ts'
import { isHalted, type SessionContext } from './context.ts'
import { withdrawEscalations } from './escalation-records.ts'

/** Whose hand it was, as ledger and timeline name it. */
export type Actor = 'you' | 'agent' | 'rule'

/** What a checkpoint is about to do, as the journal keeps it. */
export interface CheckpointIntent {
  id: string
  label: string | null
  why: string | null
  tool: string | null
  takenBy: TakenBy
  /** What it is to hold. */
  conversations: Pinned[]
  running: string[]
  at: number
}

/** What a rollback is about to do, as the journal keeps it. */
export interface RollbackIntent {
  /** The point gone back to. */
  target: string
  /** What the rule or person called it. */
  ref: string
  only: 'files' | 'messages' | null
  by: Actor
  undo: boolean
  /** Id for the tip that freezes what is left, and for the mixed point of `only`. */
  tipId: string
  mixedId: string
  patchNotes: string | null
  /** The conversations as they were when the rollback began. */
  left: Pinned[]
  running: string[]
  at: number
}

export class PairRecords {
  readonly #context: SessionContext

  constructor(context: SessionContext) {
    this.#context = context
  }

  /** A checkpoint whose layers are frozen becomes a point. */
  checkpoint(operation: string, intent: CheckpointIntent, outcome: CheckpointOutcome, ms: number): Point {
    const context = this.#context
    const { store } = context
    return context.durably(() => {
      const { head } = context.row
      const point = this.#insert({
        id: intent.id,
        kind: 'checkpoint',
        label: intent.label,
        parent: head,
        takenBy: intent.takenBy,
        why: intent.why,
        tool: intent.tool,
        at: intent.at,
        running: intent.running,
        ms,
        outcome,
        conversations: intent.conversations,
      })
      context.updateRow({ head: point.id })
      // The history that the checkpoint was given is the current one from here on.
      for (const pinned of intent.conversations) context.setConversation(pinned)
      store.journal.close(operation)
      context.raise({ type: 'headMoved', head: point.id })
      context.raiseSummary()
      return point
    })
  }

  /** A rollback whose layers are swapped: tip, head, messages, ledger, epoch. */
  rollback(operation: string, intent: RollbackIntent, outcome: RollbackOutcome, ms: number): RollbackResult {
    const context = this.#context
    const { store } = context
    return context.durably(() => {
      const before = context.row
      const target = context.point(intent.target)
      const held = store.points.held(context.id, before.head).conversations
      const leftSomething = outcome.left.changed || differ(intent.left, held)
      const histories = intent.only === 'files' ? null : this.#histories(intent, target)
      const filesMove = outcome.left.changed || before.head !== target.id || outcome.stopped.length > 0
      if (!filesMove && !histories?.some(moves)) return this.#recordNoop(operation, intent, target, ms)

      const leftAt = leftSomething ? this.#insertTip(intent, before.head, outcome.left).id : before.head
      let head = target
      if (intent.only === 'files') {
        const { state } = store.points.held(context.id, target.id)
        const why = `files of ${nameOf(target)}, messages kept`
        head = this.#insertMixed(intent, target.id, state, intent.left, why)
      }
      return this.#settle(operation, intent, { before, target, head, leftAt, histories, stopped: outcome.stopped, ms })
    })
  }

  /** A rollback of the messages alone: the files were frozen and stay. */
  messagesOnly(operation: string, intent: RollbackIntent, outcome: CheckpointOutcome, ms: number): RollbackResult {
    const context = this.#context
    return context.durably(() => {
      const before = context.row
      const target = context.point(intent.target)
      const histories = this.#histories(intent, target)
      if (!histories.some(moves)) return this.#recordNoop(operation, intent, target, ms)
      const tip = this.#insertTip(intent, before.head, outcome)
      const why = `messages of ${nameOf(target)}, files kept`
      const pinned = histories.map((history) => history.pinned)
      const head = this.#insertMixed(intent, before.head, outcome.state, pinned, why)
      return this.#settle(operation, intent, { before, target, head, leftAt: tip.id, histories, stopped: [], ms })
    })
  }

  /** Moves head, messages, epoch and ledger, and closes the journal row: the second half of every rollback. */
  #settle(
    operation: string,
    intent: RollbackIntent,
    move: {
      before: { head: string; epoch: number }
      target: Point
      head: Point
      leftAt: string
      histories: RewoundHistory[] | null
      stopped: ProcessInfo[]
      ms: number
    },
  ): RollbackResult {
    const context = this.#context
    const { store } = context
    const { before, target, head, leftAt, histories } = move
    const lineBefore = currentLine(context.points, leftAt)
    const epoch = before.epoch + 1
    context.updateRow({ head: head.id, epoch, undo: leftAt })
    this.#letGoOn(intent)
    store.rewinds.add(context.id, {
      epoch,
      at: new Date(),
      by: intent.by,
      point: target.id,
      name: nameOf(target),
      only: intent.only,
      leftAt,
    })
    for (const { pinned } of histories ?? []) context.setConversation(pinned)
    const repairs = histories?.flatMap((history) => history.repairs) ?? []
    context.appendLedger({
      eventType: 'rollback',
      status: intent.undo ? 'undone' : 'rolled_back',
      checkpoint: intent.ref,
      point: target.id,
      notes: intent.only
        ? `only ${intent.only}${intent.patchNotes ? `: ${intent.patchNotes}` : ''}`
        : intent.patchNotes,
      resolution: 'rollback',
      decidedBy: intent.by,
    })
    for (const repair of repairs)
      context.appendLedger({
        eventType: 'repair',
        status: repair.kind,
        checkpoint: intent.ref,
        point: target.id,
        notes: repair.note,
        decidedBy: 'rule',
      })
    store.journal.close(operation)
    context.raise({ type: 'rewound', head: head.id, epoch, undo: leftAt, from: leftAt, by: intent.by })
    context.raiseSummary()

    const points = context.points
    const onLine = new Set(currentLine(points, head.id).map((point) => point.id))
    const branch = branchesOf(points, head.id).find((one) => one.points.some((point) => point.id === leftAt))
    return {
      point: head,
      status: 'rolled_back',
      ...this.#standing(),
      repairs,
      leftAt,
      pointsLeft: lineBefore
        .filter((point) => point.kind === 'checkpoint' && !onLine.has(point.id))
        .map((point) => point.id),
      branch: branch?.letter ?? null,
      stopped: move.stopped,
      counts: null,
      epoch,
      ms: move.ms,
    }
  }

  /**
   * A rewind is a person's (or a rule's) decision, also where nothing had to move: a halted session goes on, and what
   * waits to be decided is pointless.
   */
  #letGoOn({ ref, by }: RollbackIntent): void {
    const context = this.#context
    withdrawEscalations(context, `the session was rewound to ${ref}`, by)
    if (!isHalted(context.row)) return
    context.setHalted(null)
    context.appendLedger({ eventType: 'resume', status: 'rolled_back', checkpoint: ref, decidedBy: by })
    context.raiseSummary()
  }

  #recordNoop(operation: string, intent: RollbackIntent, target: Point, ms: number): RollbackResult {
    const context = this.#context
    context.appendLedger({
      eventType: 'rollback',
      status: 'skipped_noop',
      checkpoint: intent.ref,
      point: target.id,
      notes: 'nothing had changed since',
      resolution: 'rollback',
      decidedBy: intent.by,
    })
    this.#letGoOn(intent)
    context.store.journal.close(operation)
    return {
      point: target,
      status: 'skipped_noop',
      ...this.#standing(),
      repairs: [],
      leftAt: null,
      pointsLeft: [],
      branch: null,
      stopped: [],
      counts: { added: 0, modified: 0, deleted: 0 },
      epoch: context.row.epoch,
      ms,
    }
  }

  /** The histories to go on with, as they stand now. */
  #standing(): Pick<RollbackResult, 'messages' | 'format' | 'notes' | 'conversations'> {
    const { conversations, store } = this.#context
    const [main, ...others] = conversations.map(({ conversation, format, revision, node }) => ({
      conversation,
      format,
      revision,
      messages: store.messages.load(node),
    }))
    return { messages: main?.messages ?? [], format: main?.format ?? 'openai', notes: [], conversations: others }
  }

  /** Every conversation to go on with at `target`: as it was for an undo, else repaired and with the resume cue. */
  #histories(intent: RollbackIntent, target: Point): RewoundHistory[] {
    const { store, id } = this.#context
    const held = store.points.held(id, target.id).conversations
    const keys = new Set([...held, ...intent.left].map(({ conversation }) => conversation))
    return [...keys].map((conversation) => {
      const left = this.#context.pinned(intent.left, conversation)
      const then = held.find((one) => one.conversation === conversation)
      const snapshot = then?.node ?? null
      const said = store.messages.load(snapshot)
      // Nothing, or words alone, are written alike in many formats: whoever has spoken since goes on in their own.
      const isTheirs = said.every((message) => formatOf(left.format).fits(message))
      const format = then && (intent.undo || !isTheirs) ? then.format : left.format
      const asItWas = { left, snapshot, pinned: { conversation, node: snapshot, format }, repairs: [] }
      // A sub-agent that had not begun, or said nothing, has nobody to be told.
      if (intent.undo || (snapshot === null && conversation !== MAIN)) return asItWas
      const { messages, repairs } = rewindHistory(
        {
          snapshot: said,
          label: nameOf(target),
          patchNotes: intent.patchNotes,
          ...(intent.only ? { only: intent.only } : {}),
        },
        format,
      )
      const of = conversation === MAIN ? '' : `${conversation}: `
      return {
        left,
        snapshot,
        pinned: { conversation, node: store.messages.save(messages, snapshot), format },
        repairs: repairs.map(({ kind, note }) => ({ kind, note: `${of}${note}` })),
      }
    })
  }

  #insertTip(intent: RollbackIntent, parent: string, outcome: CheckpointOutcome): Point {
    const ref = intent.undo ? 'an undo' : `the rewind to ${intent.ref}`
    return this.#insert({
      id: intent.tipId,
      kind: 'tip',
      label: null,
      parent,
      takenBy: 'auto',
      why: `left by ${ref}`,
      tool: null,
      at: intent.at,
      running: intent.running,
      ms: 0,
      outcome,
      conversations: intent.left,
    })
  }

  #insertMixed(
    intent: RollbackIntent,
    parent: string,
    state: FilesState,
    conversations: readonly Pinned[],
    why: string,
  ): Point {
    return this.#insert({
      id: intent.mixedId,
      kind: 'checkpoint',
      label: null,
      parent,
      takenBy: intent.by === 'rule' ? 'auto' : intent.by,
      why,
      tool: null,
      at: intent.at,
      running: [],
      ms: 0,
      outcome: { state, changed: false, bytes: 0 },
      conversations,
    })
  }

  #insert(made: {
    id: string
    kind: 'checkpoint' | 'tip'
    label: string | null
    parent: string
    takenBy: TakenBy
    why: string | null
    tool: string | null
    at: number
    running: string[]
    ms: number
    outcome: CheckpointOutcome
    conversations: readonly Pinned[]
  }): Point {
    const context = this.#context
    const parent = context.point(made.parent)
    const point: Point = {
      id: made.id,
      session: context.id,
      seq: (context.points.at(-1)?.seq ?? -1) + 1,
      kind: made.kind,
      label: made.label,
      parent: parent.id,
      at: new Date(made.at),
      takenBy: made.takenBy,
      why: made.why,
      tool: made.tool,
      messages: context.count(made.conversations),
      files: made.outcome.changed ? null : { added: 0, modified: 0, deleted: 0 },
      running: made.running,
      verdict: null,
      pinned: false,
      coverage: { files: true, messages: true, processes: false },
      host: null,
      ms: made.ms,
      bytes: made.outcome.changed ? made.outcome.bytes : 0,
    }
    context.insertPoint(point, { state: made.outcome.state, conversations: made.conversations })
    return point
  }
}

interface RewoundHistory {
  /** The conversation as the rollback found it. */
  left: Pinned
  /** Node of the history as the point holds it. */
  snapshot: number | null
  /** The conversation to go on with. */
  pinned: Pinned
  repairs: RollbackResult['repairs']
}

/** The cue aside: a history that only lacks it, or has it already, does not move. */
const moves = ({ left, snapshot, pinned }: RewoundHistory): boolean =>
  pinned.node !== left.node && snapshot !== left.node

/** Whether any conversation is another than it was; one that is not there is empty. */
function differ(now: readonly Pinned[], then: readonly Pinned[]): boolean {
  const nodes = new Map(then.map(({ conversation, node }) => [conversation, node]))
  return now.some(({ conversation, node }) => node !== (nodes.get(conversation) ?? null))
}
