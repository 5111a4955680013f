/** Small choices that outlive the window, in the browser's storage; where that is shut, they last as long as the page. */
const PREFIX = 'rewind:'

export interface Remembered {
  get(): string | null
  set(value: string): void
}

/** @param by whom: every window of this data folder, now and later, or this page alone, over its reloads */
export function remembered(name: string, by: 'window' | 'page' = 'window'): Remembered {
  let value: string | null = null
  const storage = () => (by === 'window' ? localStorage : sessionStorage)
  return {
    get() {
      try {
        return storage().getItem(PREFIX + name) ?? value
      } catch {
        return value
      }
    },
    set(next) {
      value = next
      try {
        storage().setItem(PREFIX + name, next)
      } catch {
        // Storage is shut or full: the choice holds until the page goes.
      }
    },
  }
}
