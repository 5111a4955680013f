/**
 * A page that crashed begins again by itself: the host and its sandboxes are elsewhere, and go on. One that crashes over
 * and over asks first. A session that a page crashes of is for the page to leave closed.
 */
import type { MessageBoxOptions } from 'electron'

/** So many crashes within so long are not put up with in silence. */
const MANY = 4
const SHORT_MS = 60_000

export class Crashes {
  #times: number[] = []

  /** Counts one. @param now ms since 1970 @returns whether the person is to be asked before the page begins again */
  isOften(now: number): boolean {
    this.#times = [...this.#times.filter((time) => now - time < SHORT_MS), now]
    return this.#times.length >= MANY
  }

  forget(): void {
    this.#times = []
  }
}

/** The choice to begin again, by the place of its button. */
export const AGAIN = 0

/** @param reason in Electron's word */
export const crashQuestion = (reason: string): MessageBoxOptions => ({
  type: 'error',
  message: 'The window keeps crashing',
  detail: `Its last end: ${reason}. Your sessions are not touched by this, and go on.`,
  buttons: ['Open it again', 'Quit'],
  defaultId: AGAIN,
  cancelId: AGAIN,
})
