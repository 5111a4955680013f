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
  /** Whether a result without a call may answer one that cannot be seen. */
  mayAnswerUnseen?(messages: readonly Message[], at: number): boolean
}

export const cancelledText = 'Cancelled by the rollback: this call has no result.'

interface Turn {
  /** Index among the pieces. */
  index: number
  piece: Piece
  calls: { call: Call /** index of its result among the pieces */; result: number | null }[]
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
  const nearest = new Map<string, Turn>()
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'turn') {
      const turn: Turn = { index, piece, calls: piece.calls.map((call) => ({ call, result: null })) }
      turns.set(index, turn)
      for (const { key, alias } of piece.calls) for (const name of [key, alias ?? key]) nearest.set(name, turn)
    }
    const { key } = piece
    if (key === null) continue
    const open = nearest
      .get(key)
      ?.calls.find(({ call, result }) => (call.key === key || call.alias === key) && result === null)
    if (open) open.result = index
    else if (nearest.has(key) || !shape.mayAnswerUnseen?.(messages, piece.at)) orphans.add(index)
  }
  return { pieces, turns, orphans }
}

const isDropped = (turn: Turn): boolean => turn.calls.length > 0 && turn.calls.every(({ result }) => result === null)

/** Whether something stands between a turn and one of its results that may not. */
function displaced(turn: Turn, result: number, stands: (index: number) => boolean): boolean {
  for (let index = turn.index + 1; index < result; index++) if (stands(index)) return true
  return false
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
      for (const result of atOnce ? results : []) {
        const late = pieces[result]
        if (late) kept.push(late)
        if (late && displaced(turn, result, stands))
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
    for (const { call, result } of turn.calls) {
      const say = (problem: string) => problems.push({ index: turn.piece.at, problem })
      if (keys.has(call.key)) say(`makes two calls with one id, ${call.title}`)
      keys.add(call.key)
      if (result === null) say(`has no result for ${call.title}`)
      else if (shape.results === 'at once' && displaced(turn, result, (index) => pieces[index]?.kind !== 'result'))
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

/** Has a turn go on, unless it makes a call of an id that was used in it: then it is another turn, whose results are missing. */
export function addToTurn(pieces: Piece[], more: Piece): void {
  const before = pieces.at(-1)
  const again = more.calls.some(({ key }) => before?.calls.some((call) => call.key === key))
  if (before?.kind !== 'turn' || again) pieces.push(more)
  else
    pieces[pieces.length - 1] = {
      ...before,
      messages: [...before.messages, ...more.messages],
      calls: [...before.calls, ...more.calls],
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
  for (const piece of pieces) {
    const group = groups.at(-1)
    if (group && piece.kind !== 'turn' && belongs(piece, group)) group.push(piece)
    else groups.push([piece])
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

function belongs(piece: Piece, group: readonly Piece[]): boolean {
  const last = group.at(-1)
  if (!last || last.kind === 'turn') return false
  return group.some(({ at }) => at === piece.at) || (piece.kind === 'result' && last.kind === 'result')
}

const partsOf = ({ content }: Message): unknown[] => (Array.isArray(content) ? content : [content])

const samePart = (one: Piece, two: Piece | undefined): boolean =>
  two !== undefined && one.at === two.at && partsOf(one.messages[0] ?? {})[0] === partsOf(two.messages[0] ?? {})[0]
