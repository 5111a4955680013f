/** A choice of few, all in view: radio buttons in the shape of a switch. */
import { useId } from 'react'

interface SegmentsProps<T extends string> {
  label: string
  value: T
  choices: readonly { value: NoInfer<T>; text: string }[]
  onChange(value: NoInfer<T>): void
}

export function Segments<T extends string>({ label, value, choices, onChange }: SegmentsProps<T>) {
  const name = useId()
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className="inline-flex shrink-0 rounded-md border border-line bg-sunken p-px"
    >
      {choices.map((choice) => (
        <label
          key={choice.value}
          className="rounded-[5px] border border-transparent px-2 text-small leading-5 text-ink-2 hover:text-ink has-checked:border-line has-checked:bg-raised has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
            className="sr-only"
          />
          {choice.text}
        </label>
      ))}
    </div>
  )
}
