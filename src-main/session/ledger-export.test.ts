import { describe, expect, test } from 'vitest'
import type { LedgerCheck, LedgerEntry, LedgerFormat } from '../contract/index.ts'
import { exportLedger } from './ledger-export.ts'

const session = {
  id: 's1',
  name: 'agent',
  workspace: '/w/<b>',
  createdAt: new Date(0),
  endedAt: null,
}
const check: LedgerCheck = { whole: true, rows: 3, head: 'f'.repeat(64), brokenAt: null, anchor: 'agrees' }

const entry = (id: number, given: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id,
  session: 's1',
  timestamp: new Date(id * 1000),
  eventType: 'verification',
  status: 'fail',
  checkpoint: 'stable',
  point: 'agent-ckpt-1',
  rawOutput: null,
  notes: null,
  resolution: null,
  decidedBy: null,
  hash: String(id).repeat(64),
  ...given,
})

const hostile = '=cmd|\' /C calc\'!A0\n"quoted", <script>alert(1)</script> \u202e \u001b[31m'
const entries = [entry(1, { notes: hostile, rawOutput: hostile }), entry(2, { checkpoint: '-1+1' }), entry(3)]

const asItIs = (text: string) => text

/** As the store answers, two at a time. */
const after = (id: number) => entries.filter((row) => row.id > id).slice(0, 2)
const exported = (format: LedgerFormat, checked = check) =>
  [...exportLedger(session, checked, after, format, asItIs)].join('')

/** RFC 4180, by somebody else's rules than the writer's. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    if (rows.length === 0) rows.push([])
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

describe('a ledger as a document', () => {
  test('JSON: every row under the names of the command line, and what the chain came to', () => {
    const document = JSON.parse(exported('json'))
    expect(document.session).toEqual({ id: 's1', name: 'agent', workspace: '/w/<b>' })
    expect(document.ledger).toEqual({ whole: true, rows: 3, head: check.head, broken_at: null, anchor: 'agrees' })
    expect(document.entries.map(({ id }: { id: number }) => id)).toEqual([1, 2, 3])
    expect(document.entries[0]).toEqual({
      id: 1,
      timestamp: '1970-01-01T00:00:01.000Z',
      event_type: 'verification',
      status: 'fail',
      checkpoint: 'stable',
      point: 'agent-ckpt-1',
      raw_output: hostile,
      notes: hostile,
      resolution: null,
      decided_by: null,
      hash: '1'.repeat(64),
    })
  })

  test('CSV: a line each, whatever the text, and nothing that a spreadsheet would run', () => {
    const [head, ...rows] = parseCsv(exported('csv'))
    const cells = rows.map((row) => Object.fromEntries(row.map((cell, at) => [head?.[at], cell])))
    expect(cells).toHaveLength(3)
    expect(cells[0]).toMatchObject({ id: '1', event_type: 'verification', notes: `'${hostile}`, hash: '1'.repeat(64) })
    expect(cells[1]).toMatchObject({ checkpoint: "'-1+1", notes: '' })
  })

  test('HTML: shows what agents wrote as text, and needs nothing from elsewhere', () => {
    const page = exported('html')
    expect(page).not.toContain('<script>')
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toContain('\u202e')
    expect(page).not.toContain('\u001b')
    expect(page).not.toMatch(/(?:src|href)=/)
    expect(page).toContain(check.head)
    expect(page.match(/<tr id=/g)).toHaveLength(3)
  })

  test('one that was changed says so', () => {
    const broken = { ...check, whole: false, brokenAt: 2, anchor: 'differs' as const }
    expect(exported('html', broken)).toContain('from row 2 on it is not what was written')
    expect(JSON.parse(exported('json', broken)).ledger).toMatchObject({ whole: false, broken_at: 2 })
  })

  test('rows that were appended since it was checked are not in it', () => {
    expect(JSON.parse(exported('json', { ...check, rows: 1 })).entries).toHaveLength(1)
  })

  test.each(['json', 'csv', 'html'] as const)(
    'what was written before secrets were kept out is cleaned, and marked: %s',
    (format) => {
      const secret = entry(1, { notes: 'with hunter2222', rawOutput: 'login hunter2222' })
      const clean = (text: string) => text.replaceAll('hunter2222', '[redacted]')
      const once = { ...check, rows: 2 }
      const both = [secret, entry(2, { notes: 'nothing in it' })]
      const text = [...exportLedger(session, once, (id) => (id === 0 ? both : []), format, clean)].join('')
      expect(text).not.toContain('hunter2222')
      expect(text).toContain('login [redacted]')
      const marked = {
        json: () => JSON.parse(text).entries.map((row: { redacted?: boolean }) => row.redacted),
        csv: () => parseCsv(text).map((row) => row.at(-1)),
        html: () => text.match(/Redacted for this page/g),
      }
      const marks = { json: [true, undefined], csv: ['redacted', 'true', ''], html: ['Redacted for this page'] }
      expect(marked[format]()).toEqual(marks[format])
    },
  )

  test('an empty one is a document too', () => {
    const empty = (format: LedgerFormat) =>
      [...exportLedger(session, { ...check, rows: 0 }, () => [], format, asItIs)].join('')
    expect(JSON.parse(empty('json')).entries).toEqual([])
    expect(parseCsv(empty('csv'))).toHaveLength(1)
    expect(empty('html')).toContain('0 rows, whole')
  })
})
