/** Terminal output as text: its colours and weight kept, whatever else it would do to a terminal written out or left out. */
import { useMemo } from 'react'
import { visible } from '../../src-main/contract/text.ts'
import { runsOf } from './ansi.ts'

/** The eight colours, in the theme's own. */
const colours = [
  'text-ink-3',
  'text-bad',
  'text-ok',
  'text-warn',
  'text-accent',
  'text-accent',
  'text-accent',
  'text-ink',
]

export function AnsiText({ children }: { children: string }) {
  const runs = useMemo(() => runsOf(children), [children])
  return (
    <pre className="whitespace-pre-wrap [overflow-wrap:anywhere]">
      {runs.map((run, index) => (
        <span
          key={index}
          className={`${run.colour === null ? '' : colours[run.colour]} ${run.bold ? 'font-semibold' : ''} ${run.dim ? 'opacity-80' : ''}`}
        >
          {visible(run.text)}
        </span>
      ))}
    </pre>
  )
}
