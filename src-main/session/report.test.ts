import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SessionManager } from './index.ts'
import { checkpoint, rollback, run, type TestHome, testHome, write } from './testing.ts'

const SECRET = 'hunter2222'

describe('the report of a session that lived', () => {
  let home: TestHome
  let manager: SessionManager
  let close: () => Promise<void>

  beforeAll(async () => {
    home = testHome()
    const opened = await home.open()
    manager = opened.manager
    close = opened.close
  })
  afterAll(async () => {
    await close?.()
    await home?.remove()
  })

  const page = async (id: string) => {
    const pieces: string[] = []
    for await (const piece of manager.find(id).report()) pieces.push(piece)
    return pieces.join('')
  }

  test('tells what happened while it lives, and what is left to tell when its files are gone', async () => {
    const { session: summary } = await manager.create({
      name: '<i>told</i>',
      workspace: home.workspace,
      explicit: true,
      create: false,
      force: false,
      engine: 'auto',
      mode: 'interactive',
      base: 'auto',
      network: true,
      env: { API_KEY: SECRET },
    })
    const session = manager.find(summary.id)
    await write(session, 'made.txt', 'one\n')
    await checkpoint(session, `before ${SECRET}`)
    await write(session, 'made.txt', 'two\n')
    await run(session, 'exit 3')
    session.autoRollback({
      on: true,
      events: ['test_failure'],
      to: `before ${SECRET}`,
      verifier: {
        command: `echo '{"status":"fail","summary":"key '$API_KEY'"}'`,
        retries: 0,
        retryDelayMs: 0,
        timeoutMs: null,
      },
    })
    await session.runTests({ command: null }).catch(() => {})
    await write(session, 'later.txt', 'x\n')
    await rollback(session, 'base')

    // The verdict is kept for good, so the secret is not in it.
    const rows = session.ledger({ checkpoint: null, type: null, status: null })
    expect(rows.map(({ eventType }) => eventType)).toEqual(['verification', 'rollback', 'rollback'])
    expect(rows[0]?.rawOutput).toContain('[redacted: API_KEY]')
    expect(session.verifyLedger().whole).toBe(true)

    const live = await page(summary.id)
    expect(live).not.toContain(SECRET)
    expect(live).toContain('<h1>&lt;i&gt;told&lt;/i&gt;</h1>')
    expect(live).toContain('before [redacted: API_KEY]')
    expect(live).toContain('Rewinds</dt><dd>2<small>1 by a rule')
    expect(live).toContain('✕ 1 fail')
    expect(live).toContain('The chain is whole.')
    expect(live).toContain(session.verifyLedger().head)
    expect(live).toContain('0 added, 0 modified, 0 deleted')

    session.autoRollback({ on: true, events: ['exception'], to: 'base', verifier: null })
    await write(session, 'made.txt', 'two\n')
    await session.onToolResult({ messages: null, error: `${'x'.repeat(3_995)}${SECRET}`, tool: 'sql' })
    const told = session.ledger({ checkpoint: 'base', type: 'rollback', status: 'rolled_back' }).at(-1)?.notes
    expect(told).toMatch(/x\[reda$/)

    await session.destroy()
    const after = await page(summary.id)
    expect(after).toContain('are no longer held')
    expect(after).toContain('before [redacted: API_KEY]')
    expect(after).toContain('<dt>State</dt><dd>destroyed</dd>')
  })
})
