/**
 * Calls and their results, whatever the format. A history is taken apart into pieces: turns of the assistant with the
 * calls they make, results, and all else; a format says how, and puts pieces together again. A result answers the nearest
 * turn before it that made a call of its key: agents that count from 1 in every turn reuse ids, and a map over the whole
 * history would give a late turn's result to an early one.
 */
import type { Message, Repair } from '../contract/index.ts'
import type { Repaired } from './format.ts'

/** One call of an assistant turn. */
export interface Call {
  /** What a result has to name to answer it. */
  key: string
  /** Another name that a result may use for it. */
  alias?: string
  /** For a person: the tool's name with the call's id. */
  title: string
  /** The call as its format writes it. */
  source: unknown
}

export interface Piece {
  kind: 'turn' | 'result' | 'other'
  /** Index of the (first) message that it comes from. */
  at: number
  /** The messages that it is; one that holds this piece alone where a message has several. */
  messages: readonly Message[]
  /** Of a turn. */
  calls: readonly Call[]
  /** The call that a result answers. */
  key: string | null
}

export interface Shape {
  /** `at once`: nothing but results may stand between a turn and its results; `later`: anything may. */
  results: 'at once' | 'later'
  pieces(messages: readonly Message[]): Piece[]
  /** A history has to begin with what is no turn of the assistant. */
  userFirst?: true
  /** A message with a result alone that says the call was cancelled by a rollback. */
  cancelled(call: Call, turn: Piece): Message
  /** Messages of pieces. Those of a message whose pieces all stand as they stood are that message itself. */
  join(pieces: readonly Piece[], messages: readonly Message[]): Message[]
  /** A turn without reasoning that leads to nothing; null where nothing is left, the same piece where there is none. */
  settled?(turn: Piece): Piece | null
  /** The index from which on a result without a call may answer one that cannot be seen. */
  unseenFrom?(messages: readonly Message[]): number
}

export const cancelledText = 'Cancelled by the rollback: this call has no result.'

interface Paired {
  call: Call
  /** Index of its result among the pieces. */
  result: number | null
}

interface Turn {
  /** Index among the pieces. */
  index: number
  piece: Piece
  calls: Paired[]
}

interface Pairing {
  pieces: readonly Piece[]
  turns: Map<number, Turn>
  /** Results that answer no call, or one that is already answered: by index. */
  orphans: Set<number>
}

function pair(messages: readonly Message[], shape: Shape): Pairing {
  const pieces = shape.pieces(messages)
  const turns = new Map<number, Turn>()
  const orphans = new Set<number>()
  const unseenFrom = shape.unseenFrom?.(messages) ?? Number.POSITIVE_INFINITY
  /** The calls of each name that the nearest turn made, those that wait for a result last to first. */
  const nearest = new Map<string, Paired[]>()
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'turn') {
      const turn: Turn = { index, piece, calls: piece.calls.map((call) => ({ call, result: null })) }
      turns.set(index, turn)
      for (const [name, calls] of byName(turn.calls)) nearest.set(name, calls.reverse())
    }
    const { key } = piece
    if (key === null) continue
    const waiting = nearest.get(key)
    // A call with two names may have been answered by the other one.
    while (waiting && waiting.at(-1)?.result != null) waiting.pop()
    const open = waiting?.pop()
    if (open) open.result = index
    else if (waiting || piece.at < unseenFrom) orphans.add(index)
  }
  return { pieces, turns, orphans }
}

function byName(calls: readonly Paired[]): Map<string, Paired[]> {
  const named = new Map<string, Paired[]>()
  for (const paired of calls)
    for (const name of new Set([paired.call.key, paired.call.alias ?? paired.call.key])) {
      const same = named.get(name)
      if (same) same.push(paired)
      else named.set(name, [paired])
    }
  return named
}

const isDropped = (turn: Turn): boolean => turn.calls.length > 0 && turn.calls.every(({ result }) => result === null)

/** The first piece after a turn that may not stand between it and its results. */
function firstStanding(turn: Turn, end: number, stands: (index: number) => boolean): number {
  let index = turn.index + 1
  while (index < end && !stands(index)) index++
  return index
}

/**
 * Drops turns that nobody answered and results that answer nothing, completes turns that are answered in part, brings
 * late results back to their turn where the provider wants them there, and drops reasoning that leads to nothing, and turns
 * that would come first where the user has to.
 */
export function repairPieces(messages: readonly Message[], shape: Shape): Repaired {
  const { pieces, turns, orphans } = pair(messages, shape)
  const atOnce = shape.results === 'at once'
  const owned = new Set([...turns.values()].flatMap(({ calls }) => calls.map(({ result }) => result)))
  const settled = new Map<number, Piece | null>()
  for (const [index, turn] of turns)
    if (!isDropped(turn)) settled.set(index, shape.settled ? shape.settled(turn.piece) : turn.piece)
  const stands = (index: number) =>
    pieces[index]?.kind !== 'result' && (!turns.has(index) || settled.get(index) != null)

  const kept: Piece[] = []
  const repairs: Repair[] = []
  for (const [index, piece] of pieces.entries()) {
    const place = `messages[${piece.at}]`
    const turn = turns.get(index)
    if (orphans.has(index)) repairs.push({ kind: 'dropped-result', note: `Dropped ${place}: a result without a call.` })
    else if (turn && isDropped(turn)) {
      const titles = turn.calls.map(({ call }) => call.title).join(', ')
      repairs.push({ kind: 'dropped-turn', note: `Dropped ${place}: no result for ${titles}.` })
    } else if (turn && shape.userFirst && kept.length === 0) {
      const results = turn.calls.length > 0 ? ' with its results' : ''
      repairs.push({ kind: 'dropped-turn', note: `Dropped ${place}${results}: nothing of the user stands before it.` })
    } else if (turn) {
      const whole = settled.get(index) ?? null
      if (whole !== piece)
        repairs.push({ kind: 'dropped-reasoning', note: `Dropped from ${place}: reasoning that leads to nothing.` })
      if (whole) kept.push(whole)
      const results = turn.calls.flatMap(({ result }) => (result === null ? [] : [result])).sort((a, b) => a - b)
      const reach = atOnce && results.length > 0 ? firstStanding(turn, pieces.length, stands) : 0
      for (const result of atOnce ? results : []) {
        const late = pieces[result]
        if (late) kept.push(late)
        if (late && reach < result)
          repairs.push({
            kind: 'moved-result',
            note: `Moved messages[${late.at}] to the turn that it answers, ${place}.`,
          })
      }
      for (const { call, result } of turn.calls) {
        if (result !== null) continue
        const at = pieces[results.at(-1) ?? index]?.at ?? piece.at
        kept.push({ kind: 'result', at, messages: [shape.cancelled(call, piece)], calls: [], key: call.key })
        repairs.push({
          kind: 'added-result',
          note: `Added a result for ${call.title} of ${place}: cancelled by the rollback.`,
        })
      }
    } else if (!atOnce || !owned.has(index)) kept.push(piece)
  }
  return { messages: repairs.length === 0 ? [...messages] : shape.join(kept, messages), repairs }
}

export interface Problem {
  /** Of the message. */
  index: number
  /** The rule, in words that follow the message's place. */
  problem: string
}

/** What is wrong between calls and results. */
export function pieceProblems(messages: readonly Message[], shape: Shape): Problem[] {
  const { pieces, turns, orphans } = pair(messages, shape)
  const at = (index: number) => pieces[index]?.at ?? 0
  const problems = [...orphans].map((index) => ({ index: at(index), problem: 'is a result without a call' }))
  for (const turn of turns.values()) {
    const keys = new Set<string>()
    const reach =
      shape.results === 'at once'
        ? firstStanding(turn, pieces.length, (index) => pieces[index]?.kind !== 'result')
        : pieces.length
    for (const { call, result } of turn.calls) {
      const say = (problem: string) => problems.push({ index: turn.piece.at, problem })
      if (keys.has(call.key)) say(`makes two calls with one id, ${call.title}`)
      keys.add(call.key)
      if (result === null) say(`has no result for ${call.title}`)
      else if (reach < result)
        say(`is not followed at once by the result of ${call.title}, which is messages[${at(result)}]`)
    }
    if (!isDropped(turn) && shape.settled && shape.settled(turn.piece) !== turn.piece)
      problems.push({ index: turn.piece.at, problem: 'ends in reasoning that leads to nothing' })
  }
  return problems
}

/** As the validator's lines, in the order of the history. */
export const told = (problems: readonly Problem[]): string[] =>
  problems.toSorted((a, b) => a.index - b.index).map(({ index, problem }) => `messages[${index}] ${problem}.`)

/** Where a message can be put last: at the end, or before a turn that still waits for results there. */
export function lastPlace(messages: readonly Message[], shape: Shape): number {
  const { pieces, turns } = pair(messages, shape)
  const turn = [...turns.values()].findLast(({ calls }) => calls.length > 0)
  if (!turn?.calls.some(({ result }) => result === null)) return messages.length
  return pieces.slice(turn.index + 1).every(({ kind }) => kind === 'result') ? turn.piece.at : messages.length
}

export const other = (at: number, message: Message): Piece => ({
  kind: 'other',
  at,
  messages: [message],
  calls: [],
  key: null,
})

/** Pieces one after the other, where what the assistant puts out in a row is one turn. */
export class PieceList {
  readonly pieces: Piece[] = []
  /** What the last piece is made of, where it is a turn that may go on: lists of our own, that grow with it. */
  #turn: { messages: Message[]; calls: Call[]; keys: Set<string> } | null = null

  add(piece: Piece): void {
    this.pieces.push(piece)
    this.#turn = null
  }

  /** Has a turn go on, unless it makes a call of an id that was used in it: then it is another turn, whose results are missing. */
  addToTurn(more: Piece): void {
    const again = more.calls.some(({ key }) => this.#turn?.keys.has(key))
    if (!this.#turn || again) {
      const turn = { messages: [], calls: [], keys: new Set<string>() }
      this.add({ ...more, messages: turn.messages, calls: turn.calls })
      this.#turn = turn
    }
    for (const message of more.messages) this.#turn.messages.push(message)
    for (const call of more.calls) {
      this.#turn.calls.push(call)
      this.#turn.keys.add(call.key)
    }
  }
}

export const joinWhole = (pieces: readonly Piece[]): Message[] => pieces.flatMap((piece) => piece.messages)

/**
 * Puts messages together whose lists of parts were taken apart, one part a piece: parts of one message again in one, and
 * results that follow each other.
 */
export function joinParts(
  pieces: readonly Piece[],
  messages: readonly Message[],
  shape: Pick<Shape, 'pieces'>,
): Message[] {
  const groups: Piece[][] = []
  /** The messages that the last group's pieces come from. */
  let sources = new Set<number>()
  for (const piece of pieces) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    const follows = sources.has(piece.at) || (piece.kind === 'result' && last?.kind === 'result')
    if (group && piece.kind !== 'turn' && last?.kind !== 'turn' && follows) {
      group.push(piece)
      sources.add(piece.at)
    } else {
      groups.push([piece])
      sources = new Set([piece.at])
    }
  }
  const original = Map.groupBy(shape.pieces(messages), ({ at }) => at)
  return groups.flatMap((group) => {
    const [first] = group
    if (!first || first.kind === 'turn') return first?.messages ?? []
    const whole = messages[first.at]
    const were = original.get(first.at) ?? []
    if (whole && were.length === group.length && were.every((piece, index) => samePart(piece, group[index])))
      return [whole]
    return [{ ...first.messages[0], content: group.flatMap((piece) => piece.messages.flatMap(partsOf)) }]
  })
}

const partsOf = ({ content }: Message): unknown[] => (Array.isArray(content) ? content : [content])

const samePart = (one: Piece, two: Piece | undefined): boolean =>
  two !== undefined && one.at === two.at && partsOf(one.messages[0] ?? {})[0] === partsOf(two.messages[0] ?? {})[0]
