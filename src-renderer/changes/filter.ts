/** Finding among the files that differ. */
import type { Change } from '../../src-main/contract/index.ts'

/** Those whose path holds every word of `filter`, whatever the case. */
export function matching(changes: Change[], filter: string): Change[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return changes
  return changes.filter(({ path }) => {
    const lower = path.toLowerCase()
    return words.every((word) => lower.includes(word))
  })
}
