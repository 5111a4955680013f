/** A relative time that ticks; the absolute one is its title. */
import { useAgo } from './clock.ts'
import { absolute } from './format.ts'

export function Ago({ at, className }: { at: Date; className?: string }) {
  return (
    <time dateTime={at.toISOString()} title={absolute(at)} className={className}>
      {useAgo(at)}
    </time>
  )
}
