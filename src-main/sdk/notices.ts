/** What a session tells beside what its calls return. */
import type { ImageProgress, RewindNotice } from './types.ts'

/** What can be listened to with `session.on()`. */
export interface SessionEvents {
  /** The image of the sandbox is being made or fetched, once, before the session begins. */
  progress: ImageProgress
  /** Something is likely not as it was meant; also a process warning of the type RewindWarning. */
  warning: string
  /**
   * Somebody else rewound the session: a person in the window or at a terminal, another program, or a rule that another
   * client set off. Told once, with whichever call finds it out; where nobody listens it is a process warning.
   */
  rewound: RewindNotice
}

type Listener<E extends keyof SessionEvents> = (event: SessionEvents[E]) => void

/** @internal */
export class Notices {
  readonly #listeners: { [E in keyof SessionEvents]: Set<Listener<E>> } = {
    progress: new Set(),
    warning: new Set(),
    rewound: new Set(),
  }

  on<E extends keyof SessionEvents>(event: E, listener: Listener<E>): () => void {
    this.#listeners[event].add(listener)
    return () => void this.#listeners[event].delete(listener)
  }

  knows(event: string): event is keyof SessionEvents {
    return Object.hasOwn(this.#listeners, event)
  }

  get names(): string[] {
    return Object.keys(this.#listeners)
  }

  /** @returns whether anybody listens */
  tell<E extends keyof SessionEvents>(event: E, what: SessionEvents[E]): boolean {
    for (const listener of this.#listeners[event]) listener(what)
    return this.#listeners[event].size > 0
  }

  /** @param code names the kind of warning, to be told from others: REWIND_... */
  warn(code: string, text: string): void {
    process.emitWarning(text, { type: 'RewindWarning', code })
    this.tell('warning', text)
  }

  rewound(notice: RewindNotice): void {
    if (!this.tell('rewound', notice))
      process.emitWarning(notice.text, { type: 'RewindWarning', code: 'REWIND_REWOUND' })
  }
}
