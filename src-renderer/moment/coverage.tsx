/** What a point holds, and what it does not: three small signs, and the words for them. */
import { FileDiff, MessageSquare, SquareTerminal } from 'lucide-react'
import type { Point } from '../../src-main/contract/index.ts'

const parts = [
  { key: 'files', Icon: FileDiff },
  { key: 'messages', Icon: MessageSquare },
  { key: 'processes', Icon: SquareTerminal },
] as const

export function coverageWords(coverage: Point['coverage']): string {
  const held = parts.filter(({ key }) => coverage[key]).map(({ key }) => key)
  const not = parts.filter(({ key }) => !coverage[key]).map(({ key }) => key)
  return `Holds ${held.join(', ') || 'nothing'}${not.length > 0 ? `; not ${not.join(', ')}` : ''}`
}

export function Coverage({ coverage }: Pick<Point, 'coverage'>) {
  const words = coverageWords(coverage)
  return (
    <span role="img" aria-label={words} title={words} className="flex shrink-0 items-center gap-1">
      {parts.map(({ key, Icon }) => (
        <Icon key={key} size={13} className={coverage[key] ? 'text-ink-2' : 'text-lane opacity-60'} />
      ))}
    </span>
  )
}
