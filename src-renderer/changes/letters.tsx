/** A change's letter, its colour and its word. */
import type { ChangeStatus } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import type { SeenChange } from './seen.ts'

type SeenStatus = ChangeStatus | 'renamed'

const letters: Record<SeenStatus, { letter: string; word: string; tone: string }> = {
  added: { letter: 'A', word: 'added', tone: 'text-ok' },
  modified: { letter: 'M', word: 'modified', tone: 'text-warn' },
  deleted: { letter: 'D', word: 'deleted', tone: 'text-bad' },
  type: { letter: 'T', word: 'another kind of entry', tone: 'text-warn' },
  mode: { letter: 'P', word: 'permissions', tone: 'text-warn' },
  renamed: { letter: 'R', word: 'renamed', tone: 'text-warn' },
}

export const statusOf = ({ status, was }: SeenChange): SeenStatus => (was ? 'renamed' : status)

export const wordOf = (change: SeenChange): string =>
  change.was ? `renamed from ${visibleName(change.was.path)}` : letters[change.status].word

/** In words; for permissions also which. */
export function whatChanged(change: SeenChange): string {
  const { modes } = change
  if (!modes || modes.before === null || modes.after === null) return wordOf(change)
  if (change.status === 'type') return wordOf(change)
  const isMode = change.status === 'mode'
  if (modes.before === modes.after) return isMode ? 'another owner' : wordOf(change)
  const permissions = `${letters.mode.word} ${octal(modes.before)} to ${octal(modes.after)}`
  return isMode ? permissions : `${wordOf(change)}, ${permissions}`
}

const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

export function Letter({ status }: { status: SeenStatus }) {
  const { letter, word, tone } = letters[status]
  return (
    <span title={word} className={`w-4 shrink-0 text-center font-mono text-code font-semibold ${tone}`}>
      {letter}
    </span>
  )
}
