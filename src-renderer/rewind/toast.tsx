/** What just happened, said once, with its undo. It goes by itself, except while someone is at it. */
import { Check, RotateCcw, TriangleAlert, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useStore } from 'zustand'
import { Button, IconButton } from '../elements/button.tsx'
import { Words } from '../elements/words.tsx'
import { useHost } from '../host/context.ts'
import { focusTimeline } from '../timeline/focus.ts'
import type { Toast as ToastModel } from './rewind-store.ts'

const SHOWN_MS = { rewound: 15_000, undone: 5_000, nothing: 5_000, checkpoint: 4_000, problem: 20_000 } as const

export function Toast() {
  const { rewind } = useHost()
  const toast = useStore(rewind, (state) => state.toast)
  return (
    <div role="status" aria-live="polite">
      {toast ? <Shown key={toast.key} toast={toast} /> : null}
    </div>
  )
}

function Shown({ toast }: { toast: ToastModel }) {
  const { rewind } = useHost()
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (held) return
    const timer = setTimeout(() => rewind.dismiss(), SHOWN_MS[toast.kind])
    return () => clearTimeout(timer)
  }, [rewind, toast, held])
  const Icon = toast.kind === 'problem' ? TriangleAlert : toast.kind === 'rewound' ? RotateCcw : Check
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only keeps it in view
    <div
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className="pointer-events-auto flex max-w-xl animate-rise items-center gap-3 rounded-lg border border-line bg-raised py-2 pr-2 pl-3.5 shadow-float"
    >
      <Icon
        size={15}
        aria-hidden="true"
        className={`shrink-0 ${toast.kind === 'problem' ? 'text-bad' : 'text-accent'}`}
      />
      <span className="min-w-0 break-words">
        <Words>{toast.text}</Words>
        {toast.nextStep ? (
          <span className="block text-small text-ink-2">
            <Words>{toast.nextStep}</Words>
          </span>
        ) : null}
      </span>
      {toast.undo ? (
        <Button
          shortcut="U"
          onClick={() => {
            focusTimeline()
            void rewind.undo()
          }}
        >
          Undo
        </Button>
      ) : null}
      <IconButton label="Dismiss" onClick={() => rewind.dismiss()}>
        <X size={14} />
      </IconButton>
    </div>
  )
}
