/** What the command palette offers for what was typed: things to do, sessions to open, points to go to. */
import { defaultFilter } from 'cmdk'
import type { Point, SessionSummary } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { type Action, KEYS } from '../session/keys.ts'
import { inOrder, matching } from '../sessions/sessions-store.ts'
import { foundBy } from '../timeline/find.ts'
import { titleOf } from '../timeline/words.ts'

export interface Choice<What> {
  what: What
  text: string
}

export interface Choices {
  actions: Choice<{ action: Action; key: string | null }>[]
  sessions: Choice<SessionSummary>[]
  /** Newest first. */
  points: Choice<Point>[]
}

/** More than can be looked through is found by typing on. */
const MOST = 20
/** Before anything is typed the named points are offered that a person is likely to mean. */
const RECENT = 5

/**
 * @param can what can be done now
 * @param points of the open session, oldest first
 */
export function choicesFor(
  typed: string,
  can: (action: Action) => boolean,
  sessions: readonly SessionSummary[],
  points: readonly Point[],
): Choices {
  const query = typed.trim()
  const actions = KEYS.filter(({ action }) => action !== 'palette' && can(action))
    .map(({ action, key, words }) => ({
      what: { action, key },
      text: words,
      score: query ? likeness(words, query) : 1,
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
  const named = points.filter((point) => point.label !== null && point.takenBy !== 'auto')
  const found = query === '' ? named.slice(-RECENT) : foundBy(points, query).slice(-MOST)
  return {
    actions,
    sessions: matching(inOrder(sessions), query)
      .slice(0, query === '' ? RECENT : MOST)
      .map((session) => ({ what: session, text: visibleName(session.name) })),
    points: found.toReversed().map((point) => ({ what: point, text: titleOf(point) })),
  }
}

/** How well what was typed stands for some words: `rp` for "Rewind to the selected point". */
const likeness = (words: string, query: string): number => defaultFilter?.(words, query) ?? 0
