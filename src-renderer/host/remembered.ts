/** Small choices that outlive the window, in the browser's storage; where that is shut, they last as long as the page. */
const PREFIX = 'rewind:'

export interface Remembered {
  get(): string | null
  set(value: string): void
}

export function remembered(name: string): Remembered {
  let value: string | null = null
  return {
    get() {
      try {
        return localStorage.getItem(PREFIX + name) ?? value
      } catch {
        return value
      }
    },
    set(next) {
      value = next
      try {
        localStorage.setItem(PREFIX + name, next)
      } catch {
        // Storage is shut or full: the choice holds until the page goes.
      }
    },
  }
}
