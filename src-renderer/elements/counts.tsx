/** Files added, changed and deleted. Signs as well as colours. */
import type { FileCounts } from '../../src-main/contract/index.ts'

export const isNone = (counts: FileCounts): boolean => counts.added + counts.modified + counts.deleted === 0

export const spokenCounts = ({ added, modified, deleted }: FileCounts): string =>
  [added && `${added} added`, modified && `${modified} modified`, deleted && `${deleted} deleted`]
    .filter(Boolean)
    .join(', ') || 'no files changed'

export function Counts({ counts, className = '' }: { counts: FileCounts; className?: string }) {
  const { added, modified, deleted } = counts
  return (
    <span className={`inline-flex gap-1.5 text-small ${className}`} title={`Files: ${spokenCounts(counts)}`}>
      {added > 0 ? <span className="text-ok">+{added}</span> : null}
      {modified > 0 ? <span className="text-warn">~{modified}</span> : null}
      {deleted > 0 ? <span className="text-bad">−{deleted}</span> : null}
    </span>
  )
}
