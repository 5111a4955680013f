/**
 * Which window to open: a table over facts about the machine, free of side effects, so that every row can be tested
 * and the choice can be explained to the person who waits for it.
 */

/** In the order in which they are preferred. */
export const WAYS = ['electron', 'app-window', 'default-browser', 'address'] as const
export type Way = (typeof WAYS)[number]

export interface Facts {
  platform: NodeJS.Platform
  root: boolean
  /** A screen that a window can be shown on. */
  display: boolean
  /** Electron's binary. */
  electron: string | null
  /** A browser of the Chromium family, which can show a page as a window of its own. */
  browser: string | null
  /** What opens a file with the program that the person chose for it. */
  opener: string | null
  /** Whether Chromium can build its sandbox around a page, by user namespaces or a setuid helper. */
  sandbox: boolean
  /** Ways that were tried and what became of them. */
  failed: Partial<Record<Way, string>>
}

export interface Choice {
  way: Way
  /** Ways that would have been preferred, with the reason why each was not taken. */
  passedOver: { way: Way; why: string }[]
}

/** The first way that nothing speaks against; the address always remains. */
export function chooseWindow(facts: Facts): Choice {
  const passedOver: Choice['passedOver'] = []
  for (const way of WAYS) {
    const why = facts.failed[way] ?? obstacle[way](facts)
    if (why === null) return { way, passedOver }
    passedOver.push({ way, why })
  }
  return { way: 'address', passedOver }
}

const NO_DISPLAY = 'there is no display'
const NO_SANDBOX = 'its sandbox needs user namespaces, which are shut for ordinary users here'

/** What speaks against a way; null when nothing does. */
const obstacle: Record<Way, (facts: Facts) => string | null> = {
  electron: ({ root, display, electron, sandbox }) => {
    if (root) return 'it does not run as root'
    if (!display) return NO_DISPLAY
    if (electron === null) return 'its binary is not installed'
    return sandbox ? null : NO_SANDBOX
  },
  'app-window': ({ root, display, browser, sandbox }) => {
    if (!display) return NO_DISPLAY
    if (browser === null) return 'no browser of the Chromium family was found'
    return sandbox || root ? null : NO_SANDBOX
  },
  'default-browser': ({ display, opener }) => {
    if (!display) return NO_DISPLAY
    return opener === null ? 'nothing here opens a page in the default browser' : null
  },
  address: () => null,
}
