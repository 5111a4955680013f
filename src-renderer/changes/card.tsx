/** In place of a difference, where there is none to draw. */
import type { ReactNode } from 'react'

export function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-1 p-6 text-center">
      <p className="text-ink-2">{title}</p>
      <div className="max-w-full break-words">{children}</div>
    </div>
  )
}
