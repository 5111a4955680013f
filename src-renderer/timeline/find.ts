/** Which points are meant by what a person types: all of its words are somewhere in what the point says of itself. */
import type { Point } from '../../src-main/contract/index.ts'
import { takenBy, titleOf } from './words.ts'

/** Without the session's name, which every id begins with. */
const spokenOf = (point: Point): string =>
  [
    titleOf(point),
    `ckpt-${point.seq}`,
    point.why,
    point.tool,
    point.verdict?.status,
    point.verdict?.text,
    takenBy(point),
  ]
    .filter(Boolean)
    .join('\n')
    .toLocaleLowerCase()

/** In the order in which they were given; none where nothing was typed. */
export function foundBy(points: readonly Point[], typed: string): Point[] {
  const words = typed.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return points.filter((point) => {
    const spoken = spokenOf(point)
    return words.every((word) => spoken.includes(word))
  })
}
