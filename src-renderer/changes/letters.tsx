/** A change's letter, its colour and its word. */
import type { Change, ChangeStatus } from '../../src-main/contract/index.ts'

const letters: Record<ChangeStatus, { letter: string; word: string; tone: string }> = {
  added: { letter: 'A', word: 'added', tone: 'text-ok' },
  modified: { letter: 'M', word: 'modified', tone: 'text-warn' },
  deleted: { letter: 'D', word: 'deleted', tone: 'text-bad' },
  type: { letter: 'T', word: 'another kind of entry', tone: 'text-warn' },
  mode: { letter: 'P', word: 'permissions', tone: 'text-warn' },
}

export const wordOf = (change: Change): string => letters[change.status].word

/** In words; for permissions also which. */
export function whatChanged(change: Change): string {
  const { modes } = change
  if (!modes || modes.before === null || modes.after === null) return wordOf(change)
  return `${wordOf(change)} ${octal(modes.before)} to ${octal(modes.after)}`
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

export function Letter({ status }: { status: ChangeStatus }) {
  const { letter, word, tone } = letters[status]
  return (
    <span title={word} className={`w-4 shrink-0 text-center font-mono text-code font-semibold ${tone}`}>
      {letter}
    </span>
  )
}
