/**
 * How a person wants the window to look. Kept in the browser's storage, and told to the style sheet as attributes of the
 * page's root: theme.css has a variant for each.
 */
import { createStore, type StoreApi } from 'zustand/vanilla'
import { type Remembered, remembered } from '../host/remembered.ts'

const CHOICES = {
  theme: ['system', 'light', 'dark'],
  contrast: ['system', 'normal', 'high'],
  /** Of verdicts and changes: green and red, or blue and orange. */
  colours: ['usual', 'safe'],
  text: ['small', 'normal', 'large', 'larger'],
} as const

export type Preferences = { [K in keyof typeof CHOICES]: (typeof CHOICES)[K][number] }

export const USUAL: Preferences = { theme: 'system', contrast: 'system', colours: 'usual', text: 'normal' }

/** What the system says of itself. */
export interface System {
  dark: boolean
  contrast: boolean
}

/** Attributes of the page's root that say it. */
export const attributesOf = ({ theme, contrast, colours, text }: Preferences, system: System) => ({
  theme: theme === 'system' ? (system.dark ? 'dark' : 'light') : theme,
  contrast: contrast === 'system' ? (system.contrast ? 'high' : 'normal') : contrast,
  colours,
  text,
})

/** What is not understood, or is missing, is as usual: an older or newer window may have written it. */
export function readPreferences(text: string | null): Preferences {
  const given = parsed(text)
  const chosen = <K extends keyof Preferences>(key: K): Preferences[K] =>
    (CHOICES[key] as readonly unknown[]).includes(given[key]) ? (given[key] as Preferences[K]) : USUAL[key]
  return { theme: chosen('theme'), contrast: chosen('contrast'), colours: chosen('colours'), text: chosen('text') }
}

function parsed(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export interface PreferencesStore extends StoreApi<Preferences> {
  choose(patch: Partial<Preferences>): void
}

export function createPreferences(memory: Remembered): PreferencesStore {
  const store = createStore<Preferences>(() => readPreferences(memory.get()))
  return {
    ...store,
    choose(patch) {
      store.setState(patch)
      memory.set(JSON.stringify(store.getState()))
    },
  }
}

export const preferences = createPreferences(remembered('preferences'))

/** Has the page look as it is wanted, from now on. */
export function applyPreferences(root: HTMLElement = document.documentElement): void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const contrast = matchMedia('(prefers-contrast: more)')
  const apply = () =>
    Object.assign(
      root.dataset,
      attributesOf(preferences.getState(), { dark: dark.matches, contrast: contrast.matches }),
    )
  apply()
  preferences.subscribe(apply)
  for (const query of [dark, contrast]) query.addEventListener('change', apply)
}
