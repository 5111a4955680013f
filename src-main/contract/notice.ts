/** What a client is told that has not heard of a rewind: who, when, to which point, and what to read again. */
import type { Missed, Rewind } from './model.ts'
import { visibleName } from './text.ts'

const who: Record<Rewind['by'], string> = {
  you: 'A person',
  agent: 'Another agent',
  rule: 'The automatic rollback rule',
}

/** @param history how the reader gets at the conversation as it is now */
export function noticeOf({ rewinds, counts, paths, epoch }: Missed, history: string): string {
  const what = rewinds.map(
    ({ by, at, name, only }) =>
      `${who[by]} rewound ${only ?? 'files, messages and processes'} to "${visibleName(name)}" at ${at.toISOString()}.`,
  )
  const changed = counts ? counts.added + counts.modified + counts.deleted : null
  const files =
    counts === null
      ? 'Which files changed can no longer be told: read again whatever you rely on.'
      : changed === 0
        ? 'No file differs from what you last saw.'
        : `Files that differ from what you last saw: ${changed} (${counts.added} added, ${counts.modified} modified, ${counts.deleted} deleted).`
  const list =
    paths.length > 0
      ? [`Read again: ${paths.map(visibleName).join(', ')}${(changed ?? 0) > paths.length ? ', ...' : ''}.`]
      : []
  return [
    '[REWIND] This session was rewound since your last call.',
    ...(what.length > 0 ? what : ['It went back to an earlier point.']),
    files,
    ...list,
    `Your conversation may hold steps that were undone; ${history} gives the history to go on with. Epoch is now ${epoch}.`,
  ].join('\n')
}
