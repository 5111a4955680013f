/** How the report looks: on a light or a dark screen as its reader has it, and on paper. */

/** Text colours hold 4.5:1 on every surface of their palette; a test computes it. */
export const PALETTES = {
  light: {
    surfaces: { page: '#ffffff', sunken: '#f5f4f1' },
    texts: { ink: '#1b1a18', quiet: '#5b574f', ok: '#17682f', bad: '#b3261e', warn: '#7d4b00', accent: '#4543c9' },
    shapes: { line: '#dcd9d2', lane: '#8d877b', bar: '#6d6bd6' },
  },
  dark: {
    surfaces: { page: '#181816', sunken: '#22221f' },
    texts: { ink: '#edece8', quiet: '#b4afa5', ok: '#6fca89', bad: '#ff9087', warn: '#efb65c', accent: '#a9acff' },
    shapes: { line: '#3a3935', lane: '#8a8479', bar: '#8f92f0' },
  },
} as const

const variables = ({ surfaces, texts, shapes }: (typeof PALETTES)[keyof typeof PALETTES]): string =>
  Object.entries({ ...surfaces, ...texts, ...shapes })
    .map(([name, value]) => `--${name}: ${value}`)
    .join('; ')

export const STYLE = `
:root { color-scheme: light dark; ${variables(PALETTES.light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(PALETTES.dark)} } }
* { box-sizing: border-box }
body { font: 14px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; font-variant-numeric: tabular-nums; color: var(--ink); background: var(--page); margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem 4rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.0625rem; margin: 2.25rem 0 .5rem; break-after: avoid }
p { margin: .25rem 0 } .quiet { color: var(--quiet) } code, pre { font: 12px/1.5 ui-monospace, "Cascadia Code", "DejaVu Sans Mono", monospace; overflow-wrap: anywhere }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .125rem 1rem; margin: 1rem 0 0 }
dl.facts dt, dl.numbers dt { color: var(--quiet) } dd { margin: 0; overflow-wrap: anywhere }
dl.numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 1rem 1.5rem; margin: .75rem 0 0 }
dl.numbers div { border-top: 1px solid var(--line); padding-top: .375rem; break-inside: avoid }
dl.numbers dd { font-size: 1.25rem; line-height: 1.4; font-weight: 600 } dl.numbers dd small { display: block; font-size: .8125rem; font-weight: 400; color: var(--quiet) }
table { border-collapse: collapse; width: 100%; font-size: 13px } thead { display: table-header-group }
th { text-align: left; font-weight: 600; color: var(--quiet); white-space: nowrap } th, td { padding: .3rem .75rem .3rem 0; vertical-align: top; border-bottom: 1px solid var(--line) }
td { overflow-wrap: anywhere } td.time, td.number { white-space: nowrap; overflow-wrap: normal } .number { text-align: right } td.word { overflow-wrap: break-word }
tr { break-inside: avoid } pre { margin: .25rem 0 0; padding: .375rem .5rem; white-space: pre-wrap; background: var(--sunken) }
.ok { color: var(--ok) } .bad { color: var(--bad) } .warn { color: var(--warn) }
figure { margin: .5rem 0; break-inside: avoid } svg { display: block; width: 100%; height: auto } svg text { font: 10px system-ui, sans-serif; fill: var(--quiet) }
ul.key { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: .5rem 0; padding: 0; color: var(--quiet); font-size: 13px } ul.key li { display: flex; align-items: center; gap: .375rem } ul.key svg { width: 18px; height: 18px }
.s-line { stroke: var(--accent) } .s-lane { stroke: var(--lane) } .f-line { fill: var(--accent) } .f-lane { fill: var(--lane) } .f-page { fill: var(--page) } .s-page { stroke: var(--page) }
.f-ok { fill: var(--ok) } .f-bad { fill: var(--bad) } .f-warn { fill: var(--warn) } .s-bar { stroke: var(--bar) } .s-back { stroke: var(--quiet); stroke-dasharray: 3 2 } .f-back { fill: var(--quiet) } .s-rule { stroke: var(--line) }
@page { margin: 14mm 12mm }
@media print { :root { color-scheme: light; ${variables(PALETTES.light)} } body { max-width: none; padding: 0; font-size: 11px } table { font-size: 10px } h2 { margin-top: 1.25rem } code, pre { font-size: 9px } * { print-color-adjust: exact; -webkit-print-color-adjust: exact } }
`
