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

export function Letter({ status }: { status: ChangeStatus }) {
  const { letter, word, tone } = letters[status]
  return (
    <span title={word} className={`w-4 shrink-0 text-center font-mono text-code font-semibold ${tone}`}>
      {letter}
    </span>
  )
}
