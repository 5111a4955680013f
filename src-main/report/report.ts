/**
 * A run told on one page: what it was, how it went, what it cost, and what was decided. The page needs nothing but itself
 * (no script, nothing from elsewhere) and prints well. From plain data to text; whoever has the data gathers it.
 */
import {
  bytes,
  type Change,
  type CommandRecord,
  type CommitRecord,
  currentLine,
  type Escalation,
  type FileCounts,
  type LedgerCheck,
  type LedgerEntry,
  nameOf,
  type Point,
  type Rewind,
  type SessionSummary,
} from '../contract/index.ts'
import { drawing, shape, shapeOf } from './drawing.ts'
import { cut, escaped, escapedName } from './html.ts'
import { STYLE } from './style.ts'
import { count, duration, number, utc } from './words.ts'

export interface ReportData {
  /** When the report was made. */
  at: Date
  session: Pick<
    SessionSummary,
    | 'id'
    | 'name'
    | 'workspace'
    | 'engine'
    | 'engineDetail'
    | 'image'
    | 'mode'
    | 'status'
    | 'createdAt'
    | 'endedAt'
    | 'head'
  >
  /** Oldest first, as all that follows. */
  points: readonly Point[]
  rewinds: readonly Rewind[]
  commands: readonly CommandRecord[]
  commits: readonly CommitRecord[]
  escalations: readonly Escalation[]
  check: LedgerCheck
  /** The ledger's last rows, at most {@link MOST_ROWS}. */
  rows: Iterable<LedgerEntry>
  /** What the end differs in from the workspace as it was; why that cannot be said where it cannot. */
  files: { changes: readonly Change[]; counts: FileCounts } | { reason: string }
  /** Takes secrets out of a text. */
  redact(text: string): string
}

/** Rows of the ledger that a report shows, the last ones; its export holds all. */
export const MOST_ROWS = 5_000
/** Points and files in their tables. */
const MOST_POINTS = 1_000
const MOST_FILES = 2_000
/** Characters of an output or a note. */
const OUTPUT_LENGTH = 2_000

/** @returns the page in pieces */
export function* report(data: ReportData): Generator<string> {
  const { session, points } = data
  const told = tabled(points)
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><meta name="referrer" content="no-referrer">
<title>Report of ${escapedName(session.name)}</title><style>${STYLE}</style></head><body>
`
  yield head(data)
  yield numbers(data)
  yield '<h2>Timeline and cost</h2>\n'
  if (points.length === 0) yield '<p class="quiet">No point was taken.</p>\n'
  else {
    yield key()
    yield* drawing({
      points,
      head: session.head,
      rewinds: data.rewinds,
      numbers: new Map(told.map(({ id }, index) => [id, index + 1])),
      nameOf: (point) => data.redact(nameOf(point)),
    })
    yield* pointTable(data, told)
  }
  yield* rewindTable(data)
  yield* ledgerTable(data)
  yield* fileTable(data)
  yield '</body></html>\n'
}

const words = (name: string): string => escapedName(name.replaceAll('_', ' '))

const fact = (name: string, html: string): string => `<dt>${name}</dt><dd>${html}</dd>`

function head({ at, session, redact }: ReportData): string {
  const end = session.endedAt ?? at
  const lived = duration(Math.max(0, end.getTime() - session.createdAt.getTime()))
  const running = session.endedAt === null
  const state = running ? `${session.status}, when this was written` : session.status
  return `<header><h1>${escapedName(redact(session.name))}</h1><p class="quiet">What happened in this session of Rewind, as of ${utc(at)} UTC</p>
<dl class="facts">${[
    fact('Workspace', `<code>${escapedName(redact(session.workspace))}</code>`),
    fact(
      'Engine',
      escapedName([...new Set([session.engine, session.engineDetail, session.image])].filter(Boolean).join(', ')),
    ),
    fact('State', escapedName(state)),
    fact('Began', `${utc(session.createdAt)} UTC`),
    fact(running ? 'Still open' : 'Ended', running ? `for ${lived}` : `${utc(end)} UTC, after ${lived}`),
    fact('Session', `<code>${escapedName(session.id)}</code>, mode ${escapedName(session.mode)}`),
  ].join('')}</dl></header>
`
}

/** A figure, and what is to be said of it. */
const figure = (name: string, value: string, note = ''): string =>
  `<div><dt>${name}</dt><dd>${value}${note ? `<small>${note}</small>` : ''}</dd></div>`

function numbers({ points, session, rewinds, commands, commits, escalations, check, files }: ReportData): string {
  const checkpoints = points.filter(({ kind }) => kind === 'checkpoint')
  const auto = checkpoints.filter(({ takenBy }) => takenBy === 'auto').length
  const verdict = (status: string) => points.filter((point) => point.verdict?.status === status).length
  const [pass, fail, unknown] = [verdict('pass'), verdict('fail'), verdict('unknown')]
  const ended = commands.filter(({ status }) => status !== 'running')
  const failed = ended.filter(({ status, code, tool }) => status !== 'exited' || (code !== 0 && tool !== 'verifier'))
  const ms = checkpoints.reduce((sum, point) => sum + point.ms, 0)
  const held = points.reduce((sum, point) => sum + (point.bytes ?? 0), 0)
  const unmeasured = points.some((point) => point.bytes === null)
  const byRule = rewinds.filter(({ by }) => by === 'rule').length
  const undone = commits.filter(({ undoneAt }) => undoneAt !== null).length
  const line = currentLine(points, session.head).filter(({ kind }) => kind === 'checkpoint').length
  return `<h2>In numbers</h2><dl class="numbers">${[
    figure('Points', number(checkpoints.length), `${number(auto)} automatic, ${number(line)} on the line that stands`),
    figure('Rewinds', number(rewinds.length), byRule > 0 ? `${number(byRule)} by a rule` : ''),
    figure(
      'Points judged',
      number(pass + fail + unknown),
      `<span class="ok">✓ ${number(pass)} pass</span> · <span class="bad">✕ ${number(fail)} fail</span> · <span class="warn">? ${number(unknown)} unknown</span>`,
    ),
    figure('Escalations', number(escalations.length), answered(escalations)),
    figure('Commits to the workspace', number(commits.length), undone > 0 ? `${number(undone)} undone` : ''),
    figure('Commands', number(commands.length), `${number(failed.length)} failed`),
    figure(
      'Time for points',
      duration(ms),
      checkpoints.length > 0 ? `${duration(ms / checkpoints.length)} each on average` : '',
    ),
    figure('Disk for points', bytes(held), unmeasured ? 'not all of them were measured' : ''),
    figure('Ledger', count(check.rows, 'row'), check.whole ? 'chain whole' : '<span class="bad">✕ chain broken</span>'),
    'reason' in files ? '' : figure('Files changed', number(total(files.counts)), 'in the end, against the beginning'),
  ].join('')}</dl>
`
}

const total = ({ added, modified, deleted }: FileCounts): number => added + modified + deleted

/** Who decided: `2 by you, 1 by timeout`. */
function answered(escalations: readonly Escalation[]): string {
  const by = new Map<string, number>()
  for (const { answeredBy, status } of escalations) {
    const who = status === 'open' ? 'open' : status === 'withdrawn' ? 'withdrawn' : `by ${answeredBy ?? 'nobody'}`
    by.set(who, (by.get(who) ?? 0) + 1)
  }
  return [...by].map(([who, n]) => `${number(n)} ${escapedName(who)}`).join(', ')
}

const SHAPES = [
  ['base', 'the workspace as it was'],
  ['named', 'a point'],
  ['tick', 'an automatic one'],
  ['tip', 'left by a rewind'],
  ['pass', 'pass'],
  ['fail', 'fail'],
  ['unknown', 'unknown'],
] as const

const picture = (kind: Parameters<typeof shape>[0], line = true): string =>
  `<svg viewBox="-9 -9 18 18" width="18" height="18" fill="none" aria-hidden="true">${shape(kind, line)}</svg>`

const key = (): string =>
  `<ul class="key">${SHAPES.map(([kind, said]) => `<li>${picture(kind)}${said}</li>`).join('')}<li>↶ dashed: a rewind</li></ul>\n`

/** Points that are told one by one: all but the plain automatic ones. Of very many, the last. */
const tabled = (points: readonly Point[]): Point[] =>
  points.filter((point) => shapeOf(point) !== 'tick').slice(-MOST_POINTS)

const table = (headings: readonly (readonly [string, string?])[]): string =>
  `<table><thead><tr>${headings.map(([heading, kind]) => `<th scope="col"${kind ? ` class="${kind}"` : ''}>${heading}</th>`).join('')}</tr></thead><tbody>\n`

const VERDICTS: Readonly<Record<string, readonly [string, string]>> = {
  pass: ['ok', '✓'],
  fail: ['bad', '✕'],
  unknown: ['warn', '?'],
}

/** With its mark: a verdict is never told by colour alone. */
function status(word: string | null): string {
  const [tone, mark] = VERDICTS[word ?? ''] ?? []
  return tone === undefined ? words(word ?? '') : `<span class="${tone}">${mark} ${words(word ?? '')}</span>`
}

function* pointTable({ points, session, redact }: ReportData, told: readonly Point[]): Generator<string> {
  const line = new Set(currentLine(points, session.head).map(({ id }) => id))
  const plain = points.length - told.length
  if (plain > 0)
    yield `<p class="quiet">${count(plain, 'automatic or earlier point')} ${plain === 1 ? 'is' : 'are'} drawn and not listed.</p>\n`
  yield table([
    ['', 'number'],
    ['Point'],
    ['Verdict'],
    ['Taken (UTC)'],
    ['Files'],
    ['Messages', 'number'],
    ['Time', 'number'],
    ['Bytes', 'number'],
  ])
  for (const [index, point] of told.entries()) {
    const why = [point.takenBy, point.verdict?.text ?? point.why].filter(Boolean).join(': ')
    const { files } = point
    yield `<tr><td class="number">${index + 1}</td><td>${escapedName(redact(nameOf(point)))}${line.has(point.id) ? '' : ' <span class="quiet">on a branch</span>'}${point.pinned ? ' <span class="quiet">pinned</span>' : ''}<br><span class="quiet">${escapedName(redact(why.replace(/\s+/g, ' ')))}</span></td><td class="word">${status(point.verdict?.status ?? null)}</td><td class="time">${utc(point.at)}</td><td class="time">${files ? `+${files.added} ~${files.modified} −${files.deleted}` : ''}</td><td class="number">${number(point.messages)}</td><td class="number">${duration(point.ms)}</td><td class="number">${point.bytes === null ? 'not measured' : bytes(point.bytes)}</td></tr>\n`
  }
  yield '</tbody></table>\n'
}

function* rewindTable({ rewinds, redact }: ReportData): Generator<string> {
  if (rewinds.length === 0) return
  yield `<h2>Rewinds</h2>\n${table([['When (UTC)'], ['To'], ['By'], ['What went back'], ['Left at']])}`
  for (const { at, name, by, only, leftAt } of rewinds.slice(-MOST_POINTS))
    yield `<tr><td class="time">${utc(at)}</td><td>${escapedName(redact(name))}</td><td>${by}</td><td>${only ?? 'files and messages'}</td><td>${escapedName(leftAt)}</td></tr>\n`
  yield '</tbody></table>\n'
}

function* ledgerTable({ check, rows, redact }: ReportData): Generator<string> {
  const left = check.rows - MOST_ROWS
  const chain = check.whole
    ? '<span class="ok">✓ The chain is whole.</span>'
    : `<strong class="bad">✕ The chain is broken: ${check.brokenAt === null ? 'its end' : `row ${check.brokenAt}`} is missing or is not what was written.</strong>`
  const anchors = {
    agrees: 'The note of its end that is kept outside the store agrees.',
    missing: check.rows > 0 ? 'No note of its end was kept outside the store.' : '',
    differs: 'The note of its end that is kept outside the store says otherwise.',
  }
  yield `<h2>Ledger</h2><p>${chain} ${anchors[check.anchor]}</p><p class="quiet">Head of the chain: <code>${escapedName(check.head)}</code></p>\n`
  if (check.rows === 0) {
    yield '<p class="quiet">Nothing was verified, decided or rolled back.</p>\n'
    return
  }
  if (left > 0) yield `<p class="quiet">${count(left, 'earlier row')} left out: the ledger’s export holds them.</p>\n`
  yield table([['', 'number'], ['When (UTC)'], ['Event'], ['Status'], ['Target and state'], ['Decision'], ['Notes']])
  for (const row of rows) {
    const about = [row.checkpoint, row.point === row.checkpoint ? null : row.point]
    const decision = [row.resolution && words(row.resolution), row.decidedBy && `by ${escapedName(row.decidedBy)}`]
    const output = row.rawOutput ? `<pre>${text(row.rawOutput, redact)}</pre>` : ''
    yield `<tr><td class="number">${row.id}</td><td class="time">${utc(row.timestamp)}</td><td class="word">${words(row.eventType)}</td><td class="word">${status(row.status)}</td><td>${about.flatMap((name) => (name ? [escapedName(redact(name))] : [])).join('<br>')}</td><td>${decision.filter(Boolean).join(', ')}</td><td>${text(row.notes ?? '', redact).replaceAll('\n', '<br>')}${output}</td></tr>\n`
  }
  yield '</tbody></table>\n'
}

/** The beginning of a long one; cut after the secrets are out, so that none is halved and stays. */
const text = (given: string, redact: (text: string) => string): string => escaped(cut(redact(given), OUTPUT_LENGTH))

function* fileTable({ files, redact }: ReportData): Generator<string> {
  yield '<h2>Files changed in the end</h2>\n'
  if ('reason' in files) {
    yield `<p class="quiet">${escaped(redact(files.reason))}</p>\n`
    return
  }
  const { counts, changes } = files
  yield `<p>${number(counts.added)} added, ${number(counts.modified)} modified, ${number(counts.deleted)} deleted, against the workspace as it was when the session began.</p>\n`
  const listed = changes.filter(({ kind }) => kind !== 'folder').slice(0, MOST_FILES)
  if (listed.length === 0) return
  yield table([['Path'], ['Change'], ['Before', 'number'], ['After', 'number']])
  for (const { path, status, before, after } of listed)
    yield `<tr><td><code>${escapedName(redact(path))}</code></td><td>${status}</td><td class="number">${before === null ? '' : bytes(before)}</td><td class="number">${after === null ? '' : bytes(after)}</td></tr>\n`
  yield '</tbody></table>\n'
  const left = total(counts) - listed.length
  if (left > 0) yield `<p class="quiet">${count(left, 'other entry', 'other entries')} not listed.</p>\n`
}
