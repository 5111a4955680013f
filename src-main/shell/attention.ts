/**
 * Tells a person who looks elsewhere that a verdict waits for their decision: each by a message of the desktop's, all of
 * them by a number. What is decided, here or elsewhere, is taken back.
 */
import type { Escalation } from '../contract/index.ts'
import { visible, visibleName } from '../contract/text.ts'

/** A message that stands on the desktop. */
export interface Notice {
  close(): void
}

/** What the desktop offers for it. */
export interface Desktop {
  /** Whether the person has a window of ours in front of them: they see it there. */
  isLooking(): boolean
  notify(title: string, body: string): Notice
  /** Told each time that it may be another. */
  count(waiting: readonly Escalation[]): void
}

const BODY_CHARACTERS = 200

/** Desktops of Linux read the body as markup: an agent's text must not become a link under our name. */
export const asMarkup = (text: string): string => text.replace(/[&<>]/g, (char) => ESCAPED[char] ?? char)

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export class Attention {
  readonly #desktop: Desktop
  readonly #told = new Map<string, Notice | null>()

  constructor(desktop: Desktop) {
    this.#desktop = desktop
  }

  /** @param waiting all that wait now */
  update(waiting: readonly Escalation[]): void {
    const ids = new Set(waiting.map(({ id }) => id))
    for (const [id, notice] of this.#told) {
      if (ids.has(id)) continue
      notice?.close()
      this.#told.delete(id)
    }
    for (const { id, sessionName, evidence } of waiting) {
      if (this.#told.has(id)) continue
      const title = `${visibleName(sessionName)} waits for your decision`
      const body = visible(evidence.text).slice(0, BODY_CHARACTERS)
      this.#told.set(id, this.#desktop.isLooking() ? null : this.#desktop.notify(title, body))
    }
    this.#desktop.count(waiting)
  }

  /**
   * Never rejects.
   * @param watch the lists as the host tells them, from now on; asked again when they end
   */
  async follow(watch: () => AsyncIterable<readonly Escalation[]>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const waiting of watch()) this.update(waiting)
      } catch {
        // The line broke: the next host is asked below. What was told stands until that one says otherwise.
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
    }
  }
}

const RETRY_MS = 1_000
