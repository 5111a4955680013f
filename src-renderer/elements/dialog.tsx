/**
 * A modal sheet over the window. The browser's own dialog element gives focus trap, Escape, backdrop and inertness
 * of the rest, and injects no styles, which the page's content policy would refuse.
 */
import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  title: string
  onClose(): void
  children: ReactNode
  /** Below the title. */
  note?: ReactNode
  width?: string
  /** No title to be seen, and near the top: a palette. */
  bare?: boolean
}

export function Dialog({ title, note, onClose, children, width = 'w-140', bare = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog && !dialog.open) {
      dialog.showModal()
      // The browser takes the first control; a sheet says itself where it is safe to begin.
      dialog.querySelector<HTMLElement>('[data-focus-first]')?.focus()
    }
    return () => dialog?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it; the click on the backdrop is an extra
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
      className={`${bare ? 'mx-auto mt-[12vh]' : 'm-auto'} max-h-[calc(100%-48px)] max-w-[calc(100%-32px)] overflow-hidden rounded-xl border border-line bg-raised text-ink shadow-float open:animate-rise ${width}`}
    >
      <div className="flex max-h-[calc(100vh-50px)] flex-col">
        <header className={bare ? 'sr-only' : 'px-5 pt-4 pb-3'}>
          <h2 id={titleId} className="text-title font-semibold break-words">
            {title}
          </h2>
          {note ? <div className="text-ink-2">{note}</div> : null}
        </header>
        {children}
      </div>
    </dialog>
  )
}
