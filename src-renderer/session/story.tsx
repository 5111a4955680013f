/** The demo's story: one line of fixed height, so that its telling moves nothing. */
import { useSession } from '../host/context.ts'

export function Story() {
  const story = useSession((state) => state.story)
  const { step, of, text } = story ?? {
    step: 0,
    of: 0,
    text: 'This demo works on a scratch copy; nothing of yours is touched.',
  }
  return (
    <section
      aria-label="Story"
      className="flex h-9 shrink-0 items-center gap-3 border-b border-line bg-panel px-4 text-small"
    >
      {of > 0 ? (
        <span role="img" aria-label={`Step ${step} of ${of}`} className="flex shrink-0 items-center gap-1">
          {Array.from({ length: of }, (_, index) => (
            <span key={index} className={`h-1 w-4 rounded-full ${index < step ? 'bg-accent' : 'bg-line-strong'}`} />
          ))}
        </span>
      ) : null}
      <p key={step} aria-live="polite" className="min-w-0 animate-rise truncate text-body" title={text}>
        {text}
      </p>
    </section>
  )
}
