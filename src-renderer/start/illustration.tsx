/** The idea in one picture, in the timeline's own shapes: a good point, a wrong turn, the way back, and the line going on. */
export function Illustration() {
  return (
    <svg viewBox="0 0 220 300" className="w-55 max-lg:hidden" fill="none" aria-hidden="true">
      <path
        d="M84 196C84 176 128 182 128 158V110"
        strokeWidth={2}
        className="stroke-lane"
        strokeDasharray="1 6"
        strokeLinecap="round"
      />
      <path d="M122 152H134M122 132H134" strokeWidth={2} className="stroke-lane" />
      <path d="M84 30V280" strokeWidth={2} className="stroke-accent" />
      <path d="M141 102C196 104 196 196 104 198" strokeWidth={2} className="stroke-accent" strokeLinecap="round" />
      <path
        d="M112 190L102 198L112 206"
        strokeWidth={2}
        className="stroke-accent"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
      <g transform="translate(128 102)">
        <path d="M-4 -9H4L9 -4V4L4 9H-4L-9 4V-4Z" className="fill-bad" />
        <path d="M-3.4 -3.4L3.4 3.4M3.4 -3.4L-3.4 3.4" strokeWidth={2} className="stroke-base" strokeLinecap="round" />
      </g>
      <circle cx={84} cy={22} r={8} strokeWidth={2} className="fill-base stroke-accent" />
      <circle cx={84} cy={22} r={3.5} className="animate-breathe fill-accent" />
      <path d="M78 62H90M78 240H90" strokeWidth={2} className="stroke-accent" />
      <g transform="translate(84 198)">
        <circle r={9} className="fill-ok" />
        <path d="M-4 0.2L-1.2 3L4.2 -3" strokeWidth={2} className="stroke-base" strokeLinecap="round" />
      </g>
      <rect x={77} y={272} width={14} height={14} rx={3} className="fill-accent" />
      <g className="fill-ink-2 text-small" textAnchor="end">
        <text x={64} y={26}>
          now
        </text>
        <text x={64} y={202}>
          stable
        </text>
        <text x={64} y={283}>
          base
        </text>
        <text x={140} y={84}>
          broken
        </text>
      </g>
    </svg>
  )
}
