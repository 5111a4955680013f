/**
 * The pair: files and messages frozen together and taken back together. Each operation is journalled. The intent is
 * written first, the sandbox does its part keyed by the operation's id, then one transaction moves head, messages,
 * ledger and epoch and closes the journal row. After a crash {@link Pair.recover} asks the sandbox whether its part was
 * done: if so the transaction is made up for, if not the row is closed; so it is all old or all new.
 */
import { randomUUID } from 'node:crypto'
import {
  branchesOf,
  currentLine,
  type Message,
  type Point,
  type ProcessInfo,
  RollbackFailedError,
  type RollbackResult,
  type TakenBy,
} from '../contract/index.ts'
import { countChanges } from '../diff/index.ts'
import { parseMessages, rewindHistory } from '../memory/index.ts'
import type { CheckpointOutcome, FilesState, RollbackOutcome, Sandbox } from '../sandbox/index.ts'
import { crashPoint } from '../store/index.ts'
import { MAIN, type SessionContext } from './context.ts'
import { checkLabel, nameOf, resolvePoint } from './moments.ts'

/** Whose hand it was, as ledger and timeline name it. */
export type Actor = 'you' | 'agent' | 'rule'

export interface CheckpointRequest {
  label: string | null
  why: string | null
  messages: readonly Message[] | null
  takenBy: TakenBy
  tool?: string
}

export interface RollbackRequest {
  to: string
  only: 'files' | 'messages' | null
  patchNotes: string | null
  by: Actor
}

interface CheckpointIntent {
  id: string
  label: string | null
  why: string | null
  tool: string | null
  takenBy: TakenBy
  node: string | null
  running: string[]
  at: number
}

interface RollbackIntent {
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
  /** Node of the conversation as it was when the rollback began. */
  leftNode: string | null
  running: string[]
  at: number
}

type Settled = { result: RollbackResult }

export class Pair {
  readonly #context: SessionContext
  /** Set while a rollback runs: why commands end now. */
  rewindNote: string | null = null
  readonly #running: () => string[]

  /** @param running the commands in flight, for a person to read */
  constructor(context: SessionContext, running: () => string[]) {
    this.#context = context
    this.#running = running
  }

  /**
   * Freezes files and messages as a new point below the head.
   * @throws CheckpointExistsError, InvalidOptionError (the label), InvalidMessagesError, DiskFullError; nothing is changed then
   */
  async checkpoint(request: CheckpointRequest): Promise<Point> {
    const context = this.#context
    const sandbox = await context.workable()
    return context.lock.exclusive(async () => {
      const { head, name } = context.row
      if (request.label !== null) checkLabel(request.label, context.points, head)
      if (request.messages) this.sync(request.messages)
      const { store } = context
      const intent: CheckpointIntent = {
        id: `${name}-ckpt-${store.points.nextNumber(name)}`,
        label: request.label,
        why: request.why,
        tool: request.tool ?? null,
        takenBy: request.takenBy,
        node: store.messages.head(context.id, MAIN).node,
        running: this.#running(),
        at: Date.now(),
      }
      const operation = randomUUID()
      store.journal.begin({ operation, session: context.id, kind: 'checkpoint', intent })
      crashPoint('checkpoint:intent-written')
      const began = performance.now()
      const outcome = await this.#closingOnFailure(operation, () => sandbox.checkpoint(operation))
      crashPoint('checkpoint:frozen')
      const point = this.#recordCheckpoint(operation, intent, outcome, performance.now() - began)
      crashPoint('checkpoint:recorded')
      this.#countLater(sandbox, point)
      return point
    })
  }

  /**
   * Takes files, messages and processes back to a point; what is left is kept as the tip of a branch.
   * @throws CheckpointNotFoundError (nothing is changed), RollbackFailedError (the session is as it was)
   */
  rollback(request: RollbackRequest): Promise<RollbackResult> {
    return this.#move(request, false)
  }

  /** Goes back to what the last rollback left, messages exactly as they were. Undoing twice is redoing. */
  undo(by: Actor): Promise<RollbackResult> {
    const { undo } = this.#context.row
    return this.#move({ to: undo ?? '', only: null, patchNotes: null, by }, true)
  }

  /** Replaces the current conversation. @returns its new revision */
  sync(messages: unknown): number {
    const context = this.#context
    const list = parseMessages(messages)
    const { store } = context
    return context.transaction(() => {
      const node = store.messages.save(list)
      const before = store.messages.head(context.id, MAIN)
      if (before.node === node) return before.revision
      const revision = store.messages.setHead(context.id, MAIN, node)
      context.raise({ type: 'messagesChanged', revision, count: list.length })
      return revision
    })
  }

  /** Finishes or drops what a killed host left in the journal. */
  async recover(sandbox: Sandbox): Promise<void> {
    const { store, id } = this.#context
    const open = store.journal.open(id)
    if (open.length === 0) return
    const { operations } = await sandbox.status()
    for (const row of open) {
      const done = operations.get(row.operation)
      if (!done) store.journal.close(row.operation)
      else if (done.kind === 'checkpoint' && row.kind === 'checkpoint')
        this.#recordCheckpoint(row.operation, row.intent as CheckpointIntent, done.outcome, 0)
      else if (done.kind === 'rollback' && row.kind === 'rollback')
        this.#recordRollback(row.operation, row.intent as RollbackIntent, done.outcome, 0)
      else if (done.kind === 'checkpoint' && row.kind === 'rollback')
        this.#recordMessagesOnly(row.operation, row.intent as RollbackIntent, done.outcome, 0)
      else throw new Error(`journal row ${row.operation} is a ${row.kind}, its sandbox says ${done.kind}`)
    }
  }

  async #move(request: RollbackRequest, undo: boolean): Promise<RollbackResult> {
    const context = this.#context
    const sandbox = await context.live()
    return context.lock.exclusive(async () => {
      const { head, name } = context.row
      const { store } = context
      const target = undo ? this.#undoTarget() : resolvePoint(request.to, context.points, head)
      const operation = randomUUID()
      const intent: RollbackIntent = {
        target: target.id,
        ref: undo ? nameOf(target) : request.to,
        only: request.only,
        by: request.by,
        undo,
        tipId: `${name}-ckpt-${store.points.nextNumber(name)}`,
        mixedId: request.only ? `${name}-ckpt-${store.points.nextNumber(name)}` : '',
        patchNotes: request.patchNotes,
        leftNode: store.messages.head(context.id, MAIN).node,
        running: this.#running(),
        at: Date.now(),
      }
      store.journal.begin({ operation, session: context.id, kind: 'rollback', intent })
      crashPoint('rollback:intent-written')
      const began = performance.now()
      this.rewindNote = `ended by the rewind to ${nameOf(target)}`
      try {
        if (request.only === 'messages') {
          const outcome = await this.#closingOnFailure(operation, () => sandbox.checkpoint(operation))
          crashPoint('rollback:swapped')
          return this.#recordMessagesOnly(operation, intent, outcome, performance.now() - began).result
        }
        const { state } = store.points.held(context.id, target.id)
        const outcome = await this.#closingOnFailure(operation, () => sandbox.rollback(operation, state))
        crashPoint('rollback:swapped')
        const { result } = this.#recordRollback(operation, intent, outcome, performance.now() - began)
        crashPoint('rollback:recorded')
        if (result.leftAt) this.#countLater(sandbox, context.point(result.leftAt))
        return result
      } catch (error) {
        throw new RollbackFailedError(
          `The rewind to ${nameOf(target)} failed; the session is as it was: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error, nextStep: 'Try again; `rewind doctor` says what the engine lacks.', data: { to: target.id } },
        )
      } finally {
        this.rewindNote = null
      }
    })
  }

  #undoTarget(): Point {
    const { undo } = this.#context.row
    if (undo !== null) return this.#context.point(undo)
    throw new RollbackFailedError('There is no rewind to undo.', {
      nextStep: 'Undo goes back to what the last rewind left; nothing was rewound yet.',
    })
  }

  async #closingOnFailure<T>(operation: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#context.store.journal.close(operation)
      throw error
    }
  }

  #recordCheckpoint(operation: string, intent: CheckpointIntent, outcome: CheckpointOutcome, ms: number): Point {
    const context = this.#context
    const { store } = context
    return context.transaction(() => {
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
        node: intent.node,
      })
      store.sessions.update(context.id, { head: point.id })
      store.journal.close(operation)
      context.raise({ type: 'headMoved', head: point.id })
      context.raiseSummary()
      return point
    })
  }

  #recordRollback(operation: string, intent: RollbackIntent, outcome: RollbackOutcome, ms: number): Settled {
    const context = this.#context
    const { store } = context
    return context.transaction(() => {
      const before = context.row
      const target = context.point(intent.target)
      const leftSomething = outcome.left.changed || intent.leftNode !== store.points.held(context.id, before.head).node
      const history = intent.only === 'files' ? null : this.#history(intent, target)
      const filesMove = outcome.left.changed || before.head !== target.id || outcome.stopped.length > 0
      // The cue aside: a history that only lacks it, or has it already, does not move.
      const messagesMove = history !== null && history.node !== intent.leftNode && history.snapshot !== intent.leftNode
      if (!filesMove && !messagesMove) return this.#recordNoop(operation, intent, target, ms)

      const leftAt = leftSomething ? this.#insertTip(intent, before.head, outcome.left).id : before.head
      let head = target
      if (intent.only === 'files') {
        const held = store.points.held(context.id, target.id)
        head = this.#insertMixed(
          intent,
          target.id,
          held.state,
          intent.leftNode,
          `files of ${nameOf(target)}, messages kept`,
        )
      }
      return this.#settle(operation, intent, { before, target, head, leftAt, history, stopped: outcome.stopped, ms })
    })
  }

  #recordMessagesOnly(operation: string, intent: RollbackIntent, outcome: CheckpointOutcome, ms: number): Settled {
    const context = this.#context
    return context.transaction(() => {
      const before = context.row
      const target = context.point(intent.target)
      const history = this.#history(intent, target)
      if (history.node === intent.leftNode || history.snapshot === intent.leftNode)
        return this.#recordNoop(operation, intent, target, ms)
      const tip = this.#insertTip(intent, before.head, outcome)
      const why = `messages of ${nameOf(target)}, files kept`
      const head = this.#insertMixed(intent, before.head, outcome.state, history.node, why)
      return this.#settle(operation, intent, { before, target, head, leftAt: tip.id, history, stopped: [], ms })
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
      history: RewoundHistory | null
      stopped: ProcessInfo[]
      ms: number
    },
  ): Settled {
    const context = this.#context
    const { store } = context
    const { before, target, head, leftAt, history } = move
    const lineBefore = currentLine(context.points, leftAt)
    const epoch = before.epoch + 1
    store.sessions.update(context.id, {
      head: head.id,
      epoch,
      undo: leftAt,
      // A rewind is a person's (or a rule's) decision: it lets a halted session go on.
      ...(context.row.status === 'halted' ? { status: 'running' as const, haltedBy: null } : {}),
    })
    if (history) {
      const revision = store.messages.setHead(context.id, MAIN, history.node)
      context.raise({ type: 'messagesChanged', revision, count: history.messages.length })
    }
    const entry = store.ledger.append({
      session: context.id,
      eventType: 'rollback',
      status: intent.undo ? 'undone' : 'rolled_back',
      checkpoint: intent.ref,
      point: target.id,
      rawOutput: null,
      notes: intent.only
        ? `only ${intent.only}${intent.patchNotes ? `: ${intent.patchNotes}` : ''}`
        : intent.patchNotes,
      resolution: 'rollback',
      decidedBy: intent.by,
    })
    context.raise({ type: 'ledgerAdded', entry })
    for (const repair of history?.repairs ?? []) {
      const row = store.ledger.append({
        session: context.id,
        eventType: 'repair',
        status: repair.kind,
        checkpoint: intent.ref,
        point: target.id,
        rawOutput: null,
        notes: repair.note,
        resolution: null,
        decidedBy: 'rule',
      })
      context.raise({ type: 'ledgerAdded', entry: row })
    }
    store.journal.close(operation)
    context.raise({ type: 'rewound', head: head.id, epoch, undo: leftAt, from: before.head, by: intent.by })
    context.raiseSummary()

    const points = context.points
    const onLine = new Set(currentLine(points, head.id).map((point) => point.id))
    const branch = branchesOf(points, head.id).find((one) => one.points.some((point) => point.id === leftAt))
    return {
      result: {
        point: head,
        status: 'rolled_back',
        messages: history?.messages ?? context.messages,
        repairs: history?.repairs ?? [],
        leftAt,
        pointsLeft: lineBefore
          .filter((point) => point.kind === 'checkpoint' && !onLine.has(point.id))
          .map((point) => point.id),
        branch: branch?.letter ?? null,
        stopped: move.stopped,
        counts: null,
        epoch,
        ms: move.ms,
      },
    }
  }

  #recordNoop(operation: string, intent: RollbackIntent, target: Point, ms: number): Settled {
    const context = this.#context
    const entry = context.store.ledger.append({
      session: context.id,
      eventType: 'rollback',
      status: 'skipped_noop',
      checkpoint: intent.ref,
      point: target.id,
      rawOutput: null,
      notes: 'nothing had changed since',
      resolution: 'rollback',
      decidedBy: intent.by,
    })
    context.store.journal.close(operation)
    context.raise({ type: 'ledgerAdded', entry })
    return {
      result: {
        point: target,
        status: 'skipped_noop',
        messages: context.messages,
        repairs: [],
        leftAt: null,
        pointsLeft: [],
        branch: null,
        stopped: [],
        counts: { added: 0, modified: 0, deleted: 0 },
        epoch: context.row.epoch,
        ms,
      },
    }
  }

  /** The conversation to go on with at `target`: as it was for an undo, else repaired and with the resume cue. */
  #history(intent: RollbackIntent, target: Point): RewoundHistory {
    const { store, id } = this.#context
    const { node } = store.points.held(id, target.id)
    const snapshot = store.messages.load(node)
    if (intent.undo) return { snapshot: node, node, messages: snapshot, repairs: [] }
    const { messages, repairs } = rewindHistory({ snapshot, label: nameOf(target), patchNotes: intent.patchNotes })
    return { snapshot: node, node: store.messages.save(messages), messages, repairs }
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
      node: intent.leftNode,
    })
  }

  #insertMixed(intent: RollbackIntent, parent: string, state: FilesState, node: string | null, why: string): Point {
    return this.#insert({
      id: intent.mixedId,
      kind: 'checkpoint',
      label: null,
      parent,
      takenBy: 'auto',
      why,
      tool: null,
      at: intent.at,
      running: [],
      ms: 0,
      outcome: { state, changed: false, bytes: 0 },
      node,
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
    node: string | null
  }): Point {
    const context = this.#context
    const parent = context.point(made.parent)
    const point: Point = {
      id: made.id,
      session: context.id,
      seq: context.points.length,
      kind: made.kind,
      label: made.label,
      parent: parent.id,
      at: new Date(made.at),
      takenBy: made.takenBy,
      why: made.why,
      tool: made.tool,
      messages: context.store.messages.count(made.node),
      files: made.outcome.changed ? null : { added: 0, modified: 0, deleted: 0 },
      running: made.running,
      verdict: null,
      coverage: { files: true, messages: true, processes: false },
      ms: made.ms,
      bytes: made.outcome.changed ? made.outcome.bytes : 0,
    }
    context.insertPoint(point, { state: made.outcome.state, node: made.node })
    return point
  }

  /** Counting files costs as much as changed; it follows the checkpoint instead of delaying it. */
  #countLater(sandbox: Sandbox, point: Point): void {
    if (point.files !== null || point.parent === null) return
    const context = this.#context
    const { store } = context
    const from = store.points.held(context.id, point.parent).state
    const to = store.points.held(context.id, point.id).state
    sandbox
      .changes(from, to)
      .then((changes) => context.updatePoint(point.id, { files: countChanges(changes) }))
      // The count is a convenience: a session that was destroyed meanwhile has none, the point stands without.
      .catch(() => {})
  }
}

interface RewoundHistory {
  /** Node of the history as the point holds it. */
  snapshot: string | null
  /** Node of the history to go on with. */
  node: string | null
  messages: Message[]
  repairs: RollbackResult['repairs']
}
