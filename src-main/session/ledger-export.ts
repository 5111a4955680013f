/**
 * A ledger as one document, for an audit or a report: JSON and CSV with the field names of the command line, and HTML that
 * needs nothing but itself. Each states the hash of the last row, against which the chain can be checked later.
 */
import {
  type LedgerCheck,
  type LedgerEntry,
  type LedgerFormat,
  ledgerFields,
  type SessionSummary,
} from '../contract/index.ts'
import { escaped } from '../report/index.ts'

/** Rows that follow the one of that id, oldest first; none after the last. */
type RowsAfter = (id: number) => LedgerEntry[]

type Described = Pick<SessionSummary, 'id' | 'name' | 'workspace' | 'createdAt' | 'endedAt'>

/**
 * @param redact takes secrets out: of rows that were written before the ledger itself was kept free of them
 * @returns the document in pieces
 */
export function exportLedger(
  session: Described,
  check: LedgerCheck,
  rows: RowsAfter,
  format: LedgerFormat,
  redact: (text: string) => string,
): Generator<string> {
  const writers = { json, csv, html }
  return writers[format](session, check, clean(ledgerRows(check.rows, rows), redact))
}

/** A row as it leaves: where a secret was taken out just now, its hash is over more than stands here. */
type Exported = LedgerEntry & { redacted: boolean }

function* clean(rows: Iterable<LedgerEntry>, redact: (text: string) => string): Generator<Exported> {
  for (const row of rows) {
    const notes = row.notes === null ? null : redact(row.notes)
    const rawOutput = row.rawOutput === null ? null : redact(row.rawOutput)
    yield { ...row, notes, rawOutput, redacted: notes !== row.notes || rawOutput !== row.rawOutput }
  }
}

/**
 * The rows that were checked: what is appended meanwhile is not among them.
 * @param skipped so many of the first are left out
 */
export function* ledgerRows(count: number, rows: RowsAfter, skipped = 0): Generator<LedgerEntry> {
  let left = count - skipped
  for (let part = rows(skipped); part.length > 0 && left > 0; part = rows(part.at(-1)?.id ?? 0)) {
    yield* part.slice(0, left)
    left -= part.length
  }
}

const checkFields = ({ whole, rows, head, brokenAt, anchor }: LedgerCheck) => ({
  whole,
  rows,
  head,
  broken_at: brokenAt,
  anchor,
})

function* json(session: Described, check: LedgerCheck, rows: Iterable<Exported>): Generator<string> {
  const { id, name, workspace } = session
  yield `{"session": ${JSON.stringify({ id, name, workspace })},\n"ledger": ${JSON.stringify(checkFields(check))},\n"entries": [`
  let separator = '\n'
  for (const row of rows) {
    yield separator + JSON.stringify({ ...ledgerFields(row), ...(row.redacted ? { redacted: true } : {}) })
    separator = ',\n'
  }
  yield '\n]}\n'
}

const COLUMNS = [
  'id',
  'timestamp',
  'event_type',
  'status',
  'checkpoint',
  'point',
  'resolution',
  'decided_by',
  'notes',
  'raw_output',
  'hash',
  'redacted',
] as const

/** RFC 4180. What a spreadsheet would take for a formula is led by an apostrophe: an agent may have written it. */
function cell(value: string | number | null): string {
  const text = value === null ? '' : String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function* csv(_session: Described, _check: LedgerCheck, rows: Iterable<Exported>): Generator<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for (const row of rows) {
    const fields = { ...ledgerFields(row), redacted: row.redacted ? 'true' : '' }
    yield `${COLUMNS.map((name) => cell(fields[name])).join(',')}\r\n`
  }
}

const STYLE = `
:root { color-scheme: light dark }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }
h1 { font-size: 1.25rem; margin: 0 } p { margin: .25rem 0 1rem; opacity: .75 } code { overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600 }
th, td { padding: .35rem .5rem; vertical-align: top; border-bottom: 1px solid #8884; overflow-wrap: anywhere }
pre { margin: .25rem 0 0; white-space: pre-wrap; max-height: 16rem; overflow: auto; font-size: 12px }
.pass { color: light-dark(#116329, #7ee787) } .fail { color: light-dark(#b3261e, #ffa198) } .unknown { color: light-dark(#7a4d00, #f2cc60) }
td:nth-child(1) { white-space: nowrap }`

const HEADINGS = ['Time (UTC)', 'What', 'Status', 'Checkpoint', 'Decision', 'Notes']

function* html(session: Described, check: LedgerCheck, rows: Iterable<Exported>): Generator<string> {
  const chain = check.whole
    ? `${check.rows} rows, whole; head <code>${check.head}</code>`
    : `<strong class="fail">not whole: from row ${check.brokenAt} on it is not what was written</strong>; head <code>${check.head}</code>`
  const lived = `${session.createdAt.toISOString()} to ${session.endedAt?.toISOString() ?? 'now'}`
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Ledger of ${escaped(session.name)}</title><style>${STYLE}</style></head><body>
<h1>Ledger of ${escaped(session.name)}</h1>
<p>${escaped(session.workspace)}<br>${lived}<br>${chain}</p>
<table><thead><tr>${HEADINGS.map((heading) => `<th scope="col">${heading}</th>`).join('')}</tr></thead><tbody>
`
  for (const row of rows) {
    const status = row.status ?? ''
    const decision = [row.resolution, row.decidedBy && `by ${row.decidedBy}`].filter(Boolean).join(', ')
    const output = row.rawOutput
      ? `<details><summary>Output</summary><pre>${escaped(row.rawOutput)}</pre></details>`
      : ''
    const redacted = row.redacted ? '<p>Redacted for this page: its hash is over the row as it was written.</p>' : ''
    const cells = [
      row.timestamp.toISOString().replace('T', ' ').replace('Z', ''),
      row.eventType,
      `<span class="${escaped(status)}">${escaped(status)}</span>`,
      escaped(row.checkpoint ?? '') + (row.point && row.point !== row.checkpoint ? `<br>${escaped(row.point)}` : ''),
      escaped(decision),
      `${escaped(row.notes ?? '').replaceAll('\n', '<br>')}${output}${redacted}`,
    ]
    yield `<tr id="row-${row.id}">${cells.map((text) => `<td>${text}</td>`).join('')}</tr>\n`
  }
  yield '</tbody></table></body></html>\n'
}
