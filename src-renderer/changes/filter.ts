/** Finding among the files that differ. */
import type { SeenChange } from './seen.ts'

/** Those whose path, now or before, holds every word of `filter`, whatever the case. */
export function matching(changes: SeenChange[], filter: string): SeenChange[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return changes
  return changes.filter(({ path, was }) => {
    const lower = `${path} ${was?.path ?? ''}`.toLowerCase()
    return words.every((word) => lower.includes(word))
  })
}
