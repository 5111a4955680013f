/** Text of foreign origin: always text, its invisible characters written out, long ones clipped with a way to see all. */
import { useState } from 'react'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { clip } from './clip.ts'
import { count } from './format.ts'

/** A name on one line; the whole of it is in the title. */
export function Name({ children, className = '', mono }: { children: string; className?: string; mono?: boolean }) {
  const text = visibleName(clip(children, 512).text)
  return (
    <span title={text} className={`min-w-0 truncate ${mono ? 'font-mono text-code' : ''} ${className}`}>
      {text}
    </span>
  )
}

const STEP = 4000

/** A block of text; long ones open step by step. */
export function Block({ children, className = '' }: { children: string; className?: string }) {
  const [limit, setLimit] = useState(STEP)
  const { text, left } = clip(children, limit)
  return (
    <div className={`min-w-0 whitespace-pre-wrap break-words ${className}`}>
      {visible(text)}
      {left > 0 ? (
        <button
          type="button"
          className="mt-1 block rounded text-small text-accent hover:underline"
          onClick={() => setLimit((now) => now * 8)}
        >
          Show more ({count(left, 'character')} left)
        </button>
      ) : null}
    </div>
  )
}
