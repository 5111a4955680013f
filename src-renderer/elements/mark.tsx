/** The product's mark: a line of points, and the way back. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" aria-hidden="true" className="shrink-0 text-accent">
      <path d="M6.2 4.6A7 7 0 1 1 3 10.4" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
      <path
        d="M6.9 1.2L5.6 5L9.5 6.1"
        stroke="currentColor"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <circle cx="10" cy="10" r="2.4" fill="currentColor" />
    </svg>
  )
}
