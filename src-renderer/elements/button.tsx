/** Buttons and the small keys on them. */
import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { Spinner } from './spinner.tsx'

const looks = {
  plain: 'border border-line-strong bg-raised text-ink hover:bg-hover',
  main: 'border border-accent bg-accent text-accent-ink hover:bg-accent-hover hover:border-accent-hover',
  quiet: 'border border-transparent text-ink-2 hover:bg-hover hover:text-ink',
} as const

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof looks
  icon?: ReactNode
  /** The key that does the same. */
  shortcut?: string
  busy?: boolean
  tall?: boolean
  ref?: Ref<HTMLButtonElement>
}

export function Button({ look = 'plain', icon, shortcut, busy, tall, children, className = '', ...rest }: ButtonProps) {
  const label = typeof children === 'string' ? children : undefined
  return (
    <button
      type="button"
      aria-label={label}
      aria-keyshortcuts={shortcut}
      aria-busy={busy || undefined}
      {...rest}
      className={`inline-flex shrink-0 items-center justify-center gap-1.5 whitespace-nowrap rounded-md focus-visible:outline-offset-1 ${tall ? 'h-9 px-4' : 'h-7 px-2.5'} disabled:opacity-50 ${looks[look]} ${className}`}
    >
      {busy ? <Spinner /> : icon}
      {children}
      {shortcut ? <Key on={look}>{shortcut}</Key> : null}
    </button>
  )
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string
  /** The key that does the same, as it is written. */
  shortcut?: string
  ref?: Ref<HTMLButtonElement>
  pressed?: boolean
}

export function IconButton({ label, shortcut, pressed, className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={shortcut ? `${label} (${shortcut})` : label}
      aria-pressed={pressed}
      {...rest}
      className={`inline-flex size-7 shrink-0 items-center justify-center rounded-md text-ink-2 hover:bg-hover hover:text-ink aria-pressed:bg-hover aria-pressed:text-ink ${className}`}
    />
  )
}

export function Key({ children, on = 'plain' }: { children: ReactNode; on?: keyof typeof looks }) {
  const tone = on === 'main' ? 'border-current/40 text-current' : 'border-line-strong bg-panel text-ink-2'
  return (
    <kbd
      className={`inline-flex h-4 min-w-4 items-center justify-center rounded border px-1 font-mono text-tiny leading-none ${tone}`}
    >
      {children}
    </kbd>
  )
}
