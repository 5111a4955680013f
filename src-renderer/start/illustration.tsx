/** The idea in one picture, in the timeline's own shapes: a good point, a wrong turn, and the line going on. */
export function Illustration() {
  return (
    <svg viewBox="0 0 220 300" className="w-55 max-lg:hidden" fill="none" aria-hidden="true">
      <path
        d="M84 260V190C84 150 140 158 140 118V82"
        strokeWidth={2}
        className="stroke-lane"
        strokeDasharray="1 6"
        strokeLinecap="round"
      />
      <path d="M84 18V284" strokeWidth={2} className="stroke-accent" />
      <path d="M134 136H146M134 112H146" strokeWidth={2} className="stroke-lane" />
      <g transform="translate(140 78)">
        <path d="M-4 -9H4L9 -4V4L4 9H-4L-9 4V-4Z" className="fill-bad" />
        <path
          d="M-3.4 -3.4L3.4 3.4M3.4 -3.4L-3.400 3.4"
          strokeWidth={2}
          className="stroke-base"
          strokeLinecap="round"
        />
      </g>
      <path
        d="M128 74C70 62 52 104 52 150C52 176 58 188 68 194"
        strokeWidth={2}
        className="stroke-accent"
        strokeLinecap="round"
      />
      <path
        d="M58 196L70 195L67 183"
        strokeWidth={2}
        className="stroke-accent"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <circle cx={84} cy={22} r={8} strokeWidth={2} className="fill-base stroke-accent" />
      <circle cx={84} cy={22} r={3.5} className="animate-breathe fill-accent" />
      <path d="M78 58H90M78 82H90" strokeWidth={2} className="stroke-accent" />
      <g transform="translate(84 196)">
        <circle r={9} className="fill-ok" />
        <path d="M-4 0.2L-1.2 3L4.2 -3" strokeWidth={2} className="stroke-base" strokeLinecap="round" />
      </g>
      <rect x={77} y={272} width={14} height={14} rx={3} className="fill-accent" />
      <g className="fill-ink-2 text-small">
        <text x={104} y={26} className="fill-ink font-medium">
          Now
        </text>
        <text x={158} y={82}>
          fail
        </text>
        <text x={104} y={200} className="fill-ink font-medium">
          stable
        </text>
        <text x={104} y={283}>
          base
        </text>
      </g>
    </svg>
  )
}
