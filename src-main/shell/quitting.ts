/** Quitting lets go of sessions that are live: the person is told of which, and may stay. */
import type { MessageBoxOptions } from 'electron'
import type { SessionSummary } from '../contract/index.ts'
import { visibleName } from '../contract/text.ts'

const NAMED = 5
/** The choices, by the places of their buttons. */
export const QUIT = 0
const STAY = 1

/** @param live those that quitting lets go of, one at least */
export function quitQuestion(live: readonly Pick<SessionSummary, 'name'>[]): MessageBoxOptions {
  const names = live.slice(0, NAMED).map(({ name }) => visibleName(name))
  const more = live.length > NAMED ? [`and ${live.length - NAMED} more`] : []
  return {
    type: 'question',
    message: live.length === 1 ? 'Quit while a session is live?' : `Quit while ${live.length} sessions are live?`,
    detail: `${[...names, ...more].join('\n')}\n\nWhat runs in them goes on, and the next start finds it. Until then you are not asked for decisions.`,
    buttons: ['Quit', 'Stay'],
    defaultId: STAY,
    cancelId: STAY,
  }
}
