/** How far the making of an image is. */
import type { ImageProgress } from '../../src-main/contract/index.ts'

export function Making({ text, fraction }: ImageProgress) {
  return (
    <div role="status" className="space-y-1.5 rounded-md bg-sunken px-3 py-2.5">
      <p className="flex justify-between gap-3 text-small">
        <span>Making the image</span>
        {fraction === null ? null : <span className="tabular-nums">{Math.floor(fraction * 100)}%</span>}
      </p>
      <progress
        aria-label="Making the image"
        {...(fraction === null ? {} : { value: fraction })}
        className="block h-1 w-full appearance-none overflow-hidden rounded-full bg-line-strong [&::-webkit-progress-bar]:bg-line-strong [&::-webkit-progress-value]:bg-accent"
      />
      <p className="truncate font-mono text-code text-ink-2" title={text}>
        {text}
      </p>
    </div>
  )
}
