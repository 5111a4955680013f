/** What can be done by key: one table for the handler, for the sheet that lists the keys, and for the command palette. */
import { useEffect } from 'react'

export type Action =
  | 'palette'
  | 'rewind'
  | 'undo'
  | 'checkpoint'
  | 'commit'
  | 'pin'
  | 'now'
  | 'find'
  | 'filter'
  | 'search'
  | 'new'
  | 'changes'
  | 'messages'
  | 'output'
  | 'ledger'
  | 'processes'
  | 'pause'
  | 'rules'
  | 'shell'
  | 'connect'
  | 'doctor'
  | 'preferences'
  | 'keys'

interface KeyEntry {
  /** What is pressed; `Mod+` is Ctrl, on a Mac ⌘. Null where it is in the palette alone. */
  key: string | null
  action: Action
  words: string
}

export const KEYS: readonly KeyEntry[] = [
  { key: 'Mod+K', action: 'palette', words: 'Commands' },
  { key: 'R', action: 'rewind', words: 'Rewind to the selected point' },
  { key: 'U', action: 'undo', words: 'Undo rewind' },
  { key: 'C', action: 'checkpoint', words: 'Checkpoint' },
  { key: 'W', action: 'commit', words: 'Commit to workspace' },
  { key: 'P', action: 'pin', words: 'Pin the selected point, or unpin it' },
  { key: 'N', action: 'now', words: 'Back to now (also Escape)' },
  { key: 'Mod+F', action: 'find', words: 'Find in the timeline' },
  { key: 'F', action: 'filter', words: 'Filter the timeline' },
  { key: '1', action: 'changes', words: 'Changes' },
  { key: '2', action: 'messages', words: 'Messages' },
  { key: '3', action: 'output', words: 'Output' },
  { key: '4', action: 'ledger', words: 'Ledger' },
  { key: '5', action: 'processes', words: 'Processes' },
  { key: 'T', action: 'shell', words: 'Open a shell in the sandbox' },
  { key: null, action: 'pause', words: 'Pause the session, or unpause it' },
  { key: null, action: 'rules', words: 'Rules of the session' },
  { key: null, action: 'new', words: 'New session' },
  { key: '/', action: 'search', words: 'Search sessions' },
  { key: null, action: 'connect', words: 'Connect an agent' },
  { key: null, action: 'doctor', words: 'Doctor' },
  { key: 'Mod+,', action: 'preferences', words: 'Preferences' },
  { key: '?', action: 'keys', words: 'Keys' },
]

/** Keys that a list has while the focus is in it. */
export const LIST_KEYS: readonly { key: string; words: string }[] = [
  { key: '↑ ↓', words: 'Previous, next' },
  { key: '⇧ ↑ ↓', words: 'Choose a second point to compare with' },
  { key: '→', words: 'Open the fold beside the selected point' },
  { key: 'Home End', words: 'First, last' },
  { key: 'W S', words: 'In the overview of a long run: nearer, further' },
  { key: 'A D', words: 'In the overview: earlier, later (0: all of it)' },
  { key: 'Enter', words: 'Open the row of the ledger' },
  { key: 'G', words: 'Go to the state that a ledger row is about' },
]

const MOD = 'Mod+'
const isMac = typeof navigator !== 'undefined' && /Mac/.test(navigator.platform)

/** As it is written on a key: `Ctrl K`, on a Mac `⌘ K`. */
export const keyCaps = (key: string): string => key.replace(MOD, isMac ? '⌘ ' : 'Ctrl ')

interface Listener {
  act(): void
  /** Whether it would do anything now. */
  can(): boolean
}

const listeners = new Map<Action, Set<Listener>>()

/**
 * @param can whether it would do anything now; what cannot be done is not offered
 * @returns the way to stop listening
 */
export function onAction(action: Action, act: () => void, can: () => boolean = () => true): () => void {
  const listener = { act, can }
  const set = listeners.get(action) ?? new Set()
  listeners.set(action, set.add(listener))
  return () => set.delete(listener)
}

const able = (action: Action): Listener[] => [...(listeners.get(action) ?? [])].filter(({ can }) => can())

export const canAct = (action: Action): boolean => able(action).length > 0

/** Does what the action's key does. @returns whether there was anything to do */
export function act(action: Action): boolean {
  const told = able(action)
  for (const listener of told) listener.act()
  return told.length > 0
}

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'target'>

/**
 * Which action a key press stands for. While text is typed only keys with Ctrl or ⌘ are; none while a dialog is open or
 * Alt is held.
 */
export function actionFor(event: Press): Action | null {
  const { key, ctrlKey, metaKey, altKey } = event
  const at = event.target as Partial<Element> | null
  if (altKey || at?.closest?.('dialog')) return null
  if (ctrlKey || metaKey) return KEYS.find((entry) => entry.key === MOD + key.toUpperCase())?.action ?? null
  if (at?.closest?.('input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]')) return null
  if (key === 'Escape') return 'now'
  return KEYS.find((entry) => entry.key === key || entry.key === key.toUpperCase())?.action ?? null
}

/** Listens for the whole window. */
export function useKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const action = actionFor(event)
      if (action && act(action)) event.preventDefault()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
