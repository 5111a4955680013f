/** The failed, empty and loading pictures of a pane; each says what to do next. */
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { openSheet } from '../sheets/sheets-store.ts'
import { Button } from './button.tsx'
import { Spinner } from './spinner.tsx'
import { Words } from './words.tsx'

interface ProblemProps {
  message: string
  nextStep?: string | null
  again?: () => void
  againLabel?: string
}

export function Problem({ message, nextStep, again, againLabel = 'Try again' }: ProblemProps) {
  return (
    <div role="alert" className="flex h-full flex-col items-center justify-center gap-3 p-6 text-center">
      <TriangleAlert size={20} className="text-bad" aria-hidden="true" />
      <div className="max-w-md space-y-1">
        <p className="font-medium text-balance break-words">
          <Words>{message}</Words>
        </p>
        {nextStep ? (
          <p className="text-ink-2 text-balance break-words">
            <Words>{nextStep}</Words>
          </p>
        ) : null}
      </div>
      <div className="flex gap-2">
        {again ? <Button onClick={again}>{againLabel}</Button> : null}
        {namesDoctor(nextStep) ? <Button onClick={() => openSheet('doctor')}>Doctor</Button> : null}
      </div>
    </div>
  )
}

/** Whether a next step is to look what the machine lacks: that can be seen here. */
const namesDoctor = (nextStep: string | null | undefined): boolean => nextStep?.includes('rewind doctor') === true

/** A problem within a form or a sheet. */
export function ProblemLine({ message, nextStep }: Pick<ProblemProps, 'message' | 'nextStep'>) {
  return (
    <p role="alert" className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-small">
      <TriangleAlert size={14} className="mt-px shrink-0 text-bad" aria-hidden="true" />
      <span className="min-w-0 break-words">
        <Words>{message}</Words>
        {nextStep ? (
          <span className="block text-ink-2">
            <Words>{nextStep}</Words>
          </span>
        ) : null}
      </span>
    </p>
  )
}

export function Nothing({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-1 p-6 text-center">
      <p className="text-ink-2">{title}</p>
      {children ? <p className="max-w-sm text-small text-ink-3">{children}</p> : null}
    </div>
  )
}

/** Stays invisible for the first moment: what comes at once should not flash. */
export function Loading({ what }: { what: string }) {
  return (
    <div
      role="status"
      className="flex h-full items-center justify-center gap-2 text-ink-3 animate-appear opacity-0 motion-reduce:opacity-100"
    >
      <Spinner />
      {what}
    </div>
  )
}
