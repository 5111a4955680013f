import { describe, expect, test } from 'vitest'
import type { LedgerEntry, Point } from '../contract/index.ts'
import { redactor } from './redact.ts'
import { type ReportData, report } from './report.ts'
import { PALETTES, STYLE } from './style.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 30, 12) + seconds * 1000)

const point = (seq: number, given: Partial<Point> = {}): Point => ({
  id: seq === 0 ? 'base' : `agent-ckpt-${seq}`,
  session: 's1',
  seq,
  kind: seq === 0 ? 'base' : 'checkpoint',
  label: seq === 0 ? null : `step ${seq}`,
  parent: seq === 0 ? null : seq === 1 ? 'base' : `agent-ckpt-${seq - 1}`,
  at: at(seq),
  takenBy: 'agent',
  why: null,
  tool: null,
  messages: seq,
  files: { added: 1, modified: 2, deleted: 3 },
  running: [],
  verdict: null,
  coverage: { files: true, messages: true, processes: false },
  pinned: false,
  host: null,
  ms: 12,
  bytes: 4_096,
  ...given,
})

const row = (id: number, given: Partial<LedgerEntry> = {}): LedgerEntry => ({
  id,
  session: 's1',
  timestamp: at(id),
  eventType: 'verification',
  status: 'fail',
  checkpoint: 'stable',
  point: 'agent-ckpt-1',
  rawOutput: null,
  notes: null,
  resolution: null,
  decidedBy: null,
  hash: String(id).repeat(64).slice(0, 64),
  ...given,
})

const empty: ReportData = {
  at: at(3_700),
  session: {
    id: 's1',
    name: 'agent',
    workspace: '/w/shop',
    engine: 'local',
    engineDetail: 'user namespaces',
    image: null,
    mode: 'interactive',
    status: 'ended',
    createdAt: at(0),
    endedAt: at(3_600),
    head: 'base',
  },
  points: [],
  rewinds: [],
  commands: [],
  commits: [],
  escalations: [],
  check: { whole: true, rows: 0, head: '0'.repeat(64), brokenAt: null, anchor: 'missing' },
  rows: [],
  files: { changes: [], counts: { added: 0, modified: 0, deleted: 0 } },
  redact: (text) => text,
}

const page = (given: Partial<ReportData> = {}): string => [...report({ ...empty, ...given })].join('')
/** What is read, without the tags. */
const read = (html: string): string =>
  html
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

/** A line of two points, a branch of two, and the rewind between them. */
const branched: Partial<ReportData> = {
  session: { ...empty.session, head: 'agent-ckpt-4' },
  points: [
    point(0),
    point(1, { label: 'stable', verdict: { status: 'pass', text: '14 tests pass', at: at(1) } }),
    point(2, { takenBy: 'auto', label: 'auto_0001_write_file' }),
    point(3, { kind: 'tip', label: null, verdict: { status: 'fail', text: '3 tests fail', at: at(3) } }),
    point(4, {
      parent: 'agent-ckpt-1',
      verdict: { status: 'unknown', text: 'locked', at: at(4) },
      bytes: null,
      ms: 240,
    }),
  ],
  rewinds: [
    { epoch: 1, at: at(3), by: 'rule', point: 'agent-ckpt-1', name: 'stable', only: null, leftAt: 'agent-ckpt-3' },
  ],
}

describe('the report of a session', () => {
  test('an empty one is a page that says so', () => {
    const text = read(page())
    expect(text).toContain('No point was taken.')
    expect(text).toContain('Nothing was verified, decided or rolled back.')
    expect(text).toContain('Began 2026-11-30 12:00:00 UTC')
    expect(text).toContain('Ended 2026-11-30 13:00:00 UTC, after 1 h 0 min')
    expect(page()).not.toContain('NaN')
  })

  test('needs nothing from elsewhere and runs nothing', () => {
    const html = page(branched)
    expect(html).not.toMatch(/<script|<link|<img|<iframe|<object|@import|url\(|\son\w+=|(?:src|href)=/i)
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`)
  })

  test('draws lanes, verdicts by shape, the rewind and what each point cost', () => {
    const html = page(branched)
    expect(html.match(/<figure>/g)).toHaveLength(1)
    expect(html).toContain('<title>stable, pass</title>')
    expect(html).toContain('<title>agent-ckpt-3, fail</title>')
    // The branch curves down out of stable and goes on to its tip; the rewind leads back.
    expect(html).toMatch(/<path d="M81\.8 44C[^"]+ 64H180\.2" class="s-lane"/)
    expect(html).toMatch(/<path d="M180\.2 44C[^"]+" class="s-back"/)
    expect(read(html)).toContain('time, up to 240 ms')
    expect(read(html)).toContain('bytes on disk, up to 4.1 kB')
    expect(read(html)).toMatch(/4 step 4 agent: locked \? unknown/)
    expect(read(html)).toMatch(/3 agent-ckpt-3 on a branch agent: 3 tests fail ✕ fail/)
  })

  test('counts what happened', () => {
    const command = {
      ...{ id: 'c', session: 's1', command: 'x', tool: null, guarded: false, startedAt: at(1), endedAt: at(2) },
      ...{ signal: null, note: null, stdoutBytes: 0, stderrBytes: 0, terminal: null, status: 'exited' as const },
    }
    const text = read(
      page({
        ...branched,
        commands: [
          { ...command, code: 0 },
          { ...command, code: 2 },
          { ...command, code: 1, tool: 'verifier' },
          { ...command, code: null, status: 'running' },
        ],
      }),
    )
    expect(text).toContain('Points 3 1 automatic, 2 on the line that stands')
    expect(text).toContain('Rewinds 1 1 by a rule')
    expect(text).toContain('✓ 1 pass · ✕ 1 fail · ? 1 unknown')
    expect(text).toContain('Commands 4 1 failed')
    expect(text).toContain('not all of them were measured')
  })

  test('says what is broken, with the head of the chain', () => {
    const check = { whole: false, rows: 2, head: 'e'.repeat(64), brokenAt: 2, anchor: 'differs' as const }
    const text = read(page({ check, rows: [row(1), row(2, { resolution: 'rollback', decidedBy: 'rule' })] }))
    expect(text).toContain('✕ The chain is broken: row 2 is missing or is not what was written.')
    expect(text).toContain('says otherwise')
    expect(text).toContain('e'.repeat(64))
    expect(text).toContain('rollback, by rule')
  })

  test('lists the files of the end; where they are gone it says so', () => {
    const change = {
      path: 'a\u202eb.txt',
      rawPath: null,
      status: 'added',
      kind: 'file',
      before: null,
      after: 12,
    } as const
    const files = { changes: [change], counts: { added: 3, modified: 0, deleted: 0 } }
    expect(read(page({ files }))).toContain('a\\u{202e}b.txt added 12 B')
    expect(read(page({ files }))).toContain('2 other entries not listed.')
    expect(read(page({ files: { reason: 'The files are no longer held.' } }))).toContain(
      'The files are no longer held.',
    )
  })
})

describe('hostile content', () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)> \u202e \u001b[31m \u0000 ]]> </style> ${'x'.repeat(9_000)}`
  const everywhere = page({
    session: { ...empty.session, name: hostile, workspace: hostile, engineDetail: hostile, head: 'agent-ckpt-1' },
    points: [
      point(0),
      point(1, { label: hostile, why: hostile, verdict: { status: 'fail', text: hostile, at: at(1) } }),
    ],
    rewinds: [{ epoch: 1, at: at(1), by: 'you', point: 'base', name: hostile, only: 'files', leftAt: 'agent-ckpt-1' }],
    check: { ...empty.check, rows: 1 },
    rows: [
      row(1, {
        status: hostile,
        checkpoint: hostile,
        point: hostile,
        notes: hostile,
        rawOutput: hostile,
        resolution: hostile,
        decidedBy: hostile,
      }),
    ],
    files: { reason: hostile },
  })

  test('is text, wherever it stands', () => {
    const known =
      /^<\/?(?:!doctype html|html|head|meta|title|style|body|header|h1|h2|p|dl|dt|dd|div|small|span|ul|li|svg|g|path|circle|text|figure|table|thead|tbody|tr|th|td|code|pre|br|strong)(?=[\s/>])/
    for (const [tag] of everywhere.matchAll(/<[^<>]*>/g)) {
      expect(tag).toMatch(known)
      expect(tag).not.toMatch(/\son\w+=|\ssrc=/)
    }
    expect(everywhere.match(/<\/style>/g)).toHaveLength(1)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(everywhere).not.toMatch(/[\u0000-\u0008\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/)
  })

  test('does not flood', () => {
    expect(everywhere.length).toBeLessThan(40_000)
  })

  test('secrets of the environment and tokens are out, also where a text is cut', () => {
    const token = `gh${'p_'}${'a1B2'.repeat(9)}`
    const notes = `${'n'.repeat(1_995)}hunter2222 ${token}`
    const html = page({
      redact: redactor({ DB_PASSWORD: 'hunter2222' }),
      points: [point(0), point(1, { label: 'with hunter2222' })],
      check: { ...empty.check, rows: 1 },
      rows: [row(1, { notes, rawOutput: `login hunter2222 ${token}` })],
    })
    expect(html).not.toContain('hunter2')
    expect(html).not.toContain(token)
    expect(html).toContain('login [redacted: DB_PASSWORD] [redacted: token]')
  })
})

describe('a long one', () => {
  const many = Array.from({ length: 2_000 }, (_, seq) =>
    point(seq, {
      takenBy: seq % 10 ? 'auto' : 'agent',
      parent:
        seq === 0 ? null : seq % 40 === 0 ? `agent-ckpt-${seq - 5}` : seq === 1 ? 'base' : `agent-ckpt-${seq - 1}`,
      ms: seq % 17,
    }),
  )

  test('of 2,000 points is bounded in size, and drawn in bands', () => {
    const html = page({ points: many, session: { ...empty.session, head: 'agent-ckpt-1999' } })
    expect(html.length).toBeLessThan(400_000)
    expect(html.match(/<figure>/g)).toHaveLength(24)
    expect(html).not.toContain('NaN')
    expect(read(html)).toContain('1,800 automatic or earlier points are drawn and not listed.')
  })

  test('of 20,000 points is no larger than can be opened', () => {
    const more = Array.from({ length: 20_000 }, (_, seq) => point(seq))
    const html = page({ points: more, session: { ...empty.session, head: 'agent-ckpt-19999' } })
    expect(html.match(/<figure>/g)).toHaveLength(24)
    expect(html.length).toBeLessThan(4_000_000)
  })
})

describe('its colours', () => {
  const luminance = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((from) => {
      const part = Number.parseInt(hex.slice(from, from + 2), 16) / 255
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (a: string, b: string): number => {
    const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((one, other) => other - one)
    return (high + 0.05) / (low + 0.05)
  }

  test.each(['light', 'dark'] as const)('every text on every surface holds 4.5:1, every shape 3:1: %s', (name) => {
    const { surfaces, texts, shapes } = PALETTES[name]
    for (const surface of Object.values(surfaces))
      for (const text of Object.values(texts)) expect(contrast(text, surface)).toBeGreaterThanOrEqual(4.5)
    for (const shape of [shapes.lane, shapes.bar]) expect(contrast(shape, surfaces.page)).toBeGreaterThanOrEqual(3)
  })

  test('the dark ones are for dark screens, paper is light', () => {
    expect(STYLE).toContain('@media (prefers-color-scheme: dark)')
    expect(STYLE).toMatch(/@media print \{ :root \{ color-scheme: light; --page: #ffffff/)
  })
})
