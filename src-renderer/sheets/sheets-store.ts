/** Which of the window's own sheets is open: those that belong to no session. */
import { createStore } from 'zustand/vanilla'

export type SheetName = 'connect' | 'doctor' | 'preferences'

export const sheets = createStore<{ open: SheetName | null }>(() => ({ open: null }))

/** What had the focus: it has it again afterwards. */
let before: Element | null = null

/** Another one that is open gives way. */
export function openSheet(open: SheetName): void {
  if (sheets.getState().open === null) before = document.activeElement
  sheets.setState({ open })
}

export const closeSheet = (): void => sheets.setState({ open: null })

/** @returns whether what had the focus before is still there to take it */
export function focusAsBefore(): boolean {
  const last = before
  before = null
  if (!(last instanceof HTMLElement) || last === document.body || !last.isConnected) return false
  last.focus({ preventScroll: true })
  return true
}
