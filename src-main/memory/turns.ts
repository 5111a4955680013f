/**
 * Calls and their results, in formats where each result is a message of its own. A result answers the nearest turn
 * before it that made a call of its key: agents that count from 1 in every turn reuse ids, and a map over the whole
 * history would give a late turn's result to an early one.
 */
import type { Message, Repair } from '../contract/index.ts'
import type { Repaired } from './format.ts'

/** One call of an assistant turn. */
export interface Call {
  /** What a result has to name to answer it. */
  key: string
  /** For a person: the tool's name with the call's id. */
  title: string
}

export interface TurnShape {
  /** The calls that a message makes; empty for all that make none. */
  callsOf(message: Message): Call[]
  /** The key of the call that a message answers; null where it is no result. */
  answers(message: Message): string | null
  /** A result that says the call was cancelled by a rollback. */
  cancelled(call: Call): Message
}

interface Turn {
  index: number
  calls: { call: Call /** index of its result */; result: number | null }[]
}

interface Pairing {
  turns: Turn[]
  /** Results that answer no call, or one that is already answered: by index. */
  orphans: Set<number>
}

function pair(messages: readonly Message[], shape: TurnShape): Pairing {
  const turns: Turn[] = []
  const orphans = new Set<number>()
  const nearest = new Map<string, Turn>()
  for (const [index, message] of messages.entries()) {
    const key = shape.answers(message)
    if (key !== null) {
      const open = nearest.get(key)?.calls.find(({ call, result }) => call.key === key && result === null)
      if (open) open.result = index
      else orphans.add(index)
      continue
    }
    const calls = shape.callsOf(message)
    if (calls.length === 0) continue
    const turn: Turn = { index, calls: calls.map((call) => ({ call, result: null })) }
    turns.push(turn)
    for (const call of calls) nearest.set(call.key, turn)
  }
  return { turns, orphans }
}

/** A result may only follow its turn or another result: is there anything else between? */
const displaced = (turn: Turn, result: number, stands: (index: number) => boolean): boolean => {
  for (let index = turn.index + 1; index < result; index++) if (stands(index)) return true
  return false
}

/**
 * Drops turns that nobody answered and results that answer nothing, completes turns that are answered in part, and
 * brings late results back to their turn.
 */
export function repairTurns(messages: readonly Message[], shape: TurnShape): Repaired {
  const { turns, orphans } = pair(messages, shape)
  const turnAt = new Map(turns.map((turn) => [turn.index, turn]))
  const isDropped = (turn: Turn) => turn.calls.every(({ result }) => result === null)
  const stands = (index: number) => {
    const message = messages[index]
    const turn = turnAt.get(index)
    return message !== undefined && shape.answers(message) === null && !(turn && isDropped(turn))
  }

  const kept: Message[] = []
  const repairs: Repair[] = []
  for (const [index, message] of messages.entries()) {
    const turn = turnAt.get(index)
    if (orphans.has(index)) {
      repairs.push({ kind: 'dropped-result', note: `Dropped messages[${index}]: a result without a call.` })
    } else if (turn && isDropped(turn)) {
      const titles = turn.calls.map(({ call }) => call.title).join(', ')
      repairs.push({ kind: 'dropped-turn', note: `Dropped messages[${index}]: no result for ${titles}.` })
    } else if (turn) {
      kept.push(message)
      const results = turn.calls.flatMap(({ result }) => (result === null ? [] : [result])).sort((a, b) => a - b)
      for (const result of results) {
        kept.push(...messages.slice(result, result + 1))
        if (displaced(turn, result, stands))
          repairs.push({
            kind: 'moved-result',
            note: `Moved messages[${result}] to the turn that it answers, messages[${index}].`,
          })
      }
      for (const { call, result } of turn.calls) {
        if (result !== null) continue
        kept.push(shape.cancelled(call))
        repairs.push({
          kind: 'added-result',
          note: `Added a result for ${call.title} of messages[${index}]: cancelled by the rollback.`,
        })
      }
    } else if (shape.answers(message) === null) kept.push(message)
  }
  return { messages: kept, repairs }
}

/** What is wrong between calls and results: index of the message and the rule in words. */
export function turnProblems(messages: readonly Message[], shape: TurnShape): { index: number; problem: string }[] {
  const { turns, orphans } = pair(messages, shape)
  const isResult = messages.map((message) => shape.answers(message) !== null)
  const problems = [...orphans].map((index) => ({ index, problem: 'is a result without a call' }))
  for (const turn of turns) {
    const keys = new Set<string>()
    for (const { call, result } of turn.calls) {
      const say = (problem: string) => problems.push({ index: turn.index, problem })
      if (keys.has(call.key)) say(`makes two calls with one id, ${call.title}`)
      keys.add(call.key)
      if (result === null) say(`has no result for ${call.title}`)
      else if (displaced(turn, result, (index) => !isResult[index]))
        say(`is not followed at once by the result of ${call.title}, which is messages[${result}]`)
    }
  }
  return problems
}

/** Where a message can be put last: at the end, or before a turn that still waits for results there. */
export function lastPlace(messages: readonly Message[], shape: TurnShape): number {
  const turn = pair(messages, shape).turns.at(-1)
  const waits = turn?.calls.some(({ result }) => result === null)
  const followedByResults = turn && messages.slice(turn.index + 1).every((message) => shape.answers(message) !== null)
  return turn && waits && followedByResults ? turn.index : messages.length
}
