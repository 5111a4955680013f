import { expect, test } from 'vitest'
import type { Escalation } from '../contract/index.ts'
import { Attention, asMarkup } from './attention.ts'
import { quitQuestion } from './quitting.ts'

const waiting = (id: string, sessionName = 'shop', text = 'Verifier returned unknown status.') =>
  ({ id, sessionName, evidence: { text } }) as Escalation

function desktop() {
  const seen = { isLooking: false, standing: [] as string[], count: 0 }
  const attention = new Attention({
    isLooking: () => seen.isLooking,
    notify(title, body) {
      const line = `${title}: ${body}`
      seen.standing.push(line)
      return { close: () => seen.standing.splice(seen.standing.indexOf(line), 1) }
    },
    count: (all) => {
      seen.count = all.length
    },
  })
  return { seen, attention }
}

test('each decision is told once, and taken back when it is made', () => {
  const { seen, attention } = desktop()
  attention.update([waiting('a'), waiting('b', 'mill')])
  attention.update([waiting('a'), waiting('b', 'mill')])
  expect(seen.standing).toEqual([
    'shop waits for your decision: Verifier returned unknown status.',
    'mill waits for your decision: Verifier returned unknown status.',
  ])
  attention.update([waiting('b', 'mill')])
  expect(seen.standing).toHaveLength(1)
  expect(seen.count).toBe(1)
  attention.update([])
  expect(seen).toMatchObject({ standing: [], count: 0 })
})

test('who looks at the window is not told a second time, then or later', () => {
  const { seen, attention } = desktop()
  seen.isLooking = true
  attention.update([waiting('a')])
  seen.isLooking = false
  attention.update([waiting('a'), waiting('b')])
  expect(seen.standing).toHaveLength(1)
  expect(seen.count).toBe(2)
})

test('what an agent wrote is made visible and short', () => {
  const { seen, attention } = desktop()
  attention.update([waiting('a', 'exe\u202egpj', `\u001b[2J${'x'.repeat(5_000)}`)])
  const [line = ''] = seen.standing
  expect(line).toMatch(/^exe\\u\{202e\}gpj waits for your decision: \\x1b\[2J/)
  expect(line.length).toBeLessThan(300)
})

test('it is text to a desktop that reads markup', () => {
  expect(asMarkup('<a href="http://x">Approve</a> a && b')).toBe(
    '&lt;a href="http://x"&gt;Approve&lt;/a&gt; a &amp;&amp; b',
  )
})

test('a line that breaks is begun anew; what was told stands meanwhile', async () => {
  const { seen, attention } = desktop()
  const over = new AbortController()
  const lines = [[[waiting('a')]], [[waiting('a')], []]]
  let begun = 0
  async function* watch() {
    const lists = lines[begun++]
    if (!lists) return over.abort()
    for (const list of lists) yield list
    if (begun === 1) {
      expect(seen.standing).toHaveLength(1)
      throw new Error('the line broke')
    }
  }
  await attention.follow(watch, over.signal)
  expect(begun).toBe(3)
  expect(seen).toMatchObject({ standing: [], count: 0 })
})

test('quitting names the sessions that are let go of, five at most', () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `s${n}` }))
  expect(quitQuestion(names(1)).message).toBe('Quit while a session is live?')
  const { message, detail = '', defaultId, cancelId } = quitQuestion(names(7))
  expect(message).toBe('Quit while 7 sessions are live?')
  expect(detail.split('\n').slice(0, 6)).toEqual(['s0', 's1', 's2', 's3', 's4', 'and 2 more'])
  // Enter and Escape quit nothing.
  expect([defaultId, cancelId]).toEqual([1, 1])
})
