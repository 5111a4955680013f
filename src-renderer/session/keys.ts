/** The window's keys: one table for the handler and for the sheet that lists them. */
import { useEffect } from 'react'

export type Action =
  | 'rewind'
  | 'undo'
  | 'checkpoint'
  | 'commit'
  | 'now'
  | 'search'
  | 'changes'
  | 'messages'
  | 'output'
  | 'ledger'
  | 'processes'
  | 'shell'
  | 'keys'

export const KEYS: readonly { key: string; action: Action; words: string }[] = [
  { key: 'R', action: 'rewind', words: 'Rewind to the selected point' },
  { key: 'U', action: 'undo', words: 'Undo rewind' },
  { key: 'C', action: 'checkpoint', words: 'Checkpoint' },
  { key: 'W', action: 'commit', words: 'Commit to workspace' },
  { key: 'N', action: 'now', words: 'Back to now (also Escape)' },
  { key: '1', action: 'changes', words: 'Changes' },
  { key: '2', action: 'messages', words: 'Messages' },
  { key: '3', action: 'output', words: 'Output' },
  { key: '4', action: 'ledger', words: 'Ledger' },
  { key: '5', action: 'processes', words: 'Processes' },
  { key: 'T', action: 'shell', words: 'Open a shell in the sandbox' },
  { key: '/', action: 'search', words: 'Search sessions' },
  { key: '?', action: 'keys', words: 'Keys' },
]

/** Keys that a list has while the focus is in it. */
export const LIST_KEYS: readonly { key: string; words: string }[] = [
  { key: '↑ ↓', words: 'Previous, next' },
  { key: '⇧ ↑ ↓', words: 'Choose a second point to compare with' },
  { key: '→', words: 'Open the fold beside the selected point' },
  { key: 'Home End', words: 'First, last' },
  { key: 'Enter', words: 'Open the row of the ledger' },
  { key: 'G', words: 'Go to the state that a ledger row is about' },
]

const listeners = new Map<Action, Set<() => void>>()

/** @returns the way to stop listening */
export function onAction(action: Action, listener: () => void): () => void {
  const set = listeners.get(action) ?? new Set()
  listeners.set(action, set.add(listener))
  return () => set.delete(listener)
}

/** Does what the action's key does. */
export function act(action: Action): void {
  for (const listener of listeners.get(action) ?? []) listener()
}

/** Which action a key press stands for; none while text is typed, a dialog is open, or a modifier is held. */
export function actionFor(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'target'>,
): Action | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  const at = event.target as Partial<Element> | null
  if (at?.closest?.('input:not([type=radio]), textarea, [contenteditable], dialog')) return null
  if (event.key === 'Escape') return 'now'
  return KEYS.find(({ key }) => key === event.key || key === event.key.toUpperCase())?.action ?? null
}

/** Listens for the whole window. */
export function useKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const action = actionFor(event)
      const told = action ? listeners.get(action) : undefined
      if (!told?.size) return
      event.preventDefault()
      for (const listener of told) listener()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
