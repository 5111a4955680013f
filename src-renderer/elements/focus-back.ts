/** Gives the focus back to what opened a dialog, once that is gone: while it is there the rest of the page takes none. */
import { useEffect, useRef } from 'react'

/** @returns told of whatever has the focus when the dialog is asked for */
export function useFocusBack(open: boolean): () => void {
  const opener = useRef<HTMLElement | null>(null)
  useEffect(() => {
    if (open) return
    if (opener.current?.isConnected) opener.current.focus()
    opener.current = null
  }, [open])
  return () => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null
  }
}
