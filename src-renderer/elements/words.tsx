/** A sentence of the host's: what stands in backticks is something to type, and looks like it. */
import { visible } from '../../src-main/contract/text.ts'

export function Words({ children }: { children: string }) {
  return visible(children)
    .split(/`([^`]+)`/)
    .map((part, index) =>
      index % 2 === 1 ? (
        <code key={index} className="rounded bg-sunken px-1 py-px font-mono text-code select-text">
          {part}
        </code>
      ) : (
        part
      ),
    )
}
