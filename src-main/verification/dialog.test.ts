import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { askAtTerminal, type Shown } from './index.ts'

const shown: Shown = {
  sessionName: 'agent',
  checkpoint: 'stable',
  verifierCommand: ['sh', 'my check.sh'],
  attempts: 4,
  text: 'It said nothing.\nSee its stderr.\u001b[2J',
  counts: { added: 1, modified: 2, deleted: 0 },
  rawOutput: '',
  rawStderr: Array.from({ length: 20 }, (_, n) => `line ${n}`).join('\n'),
}

function terminal() {
  const input = new PassThrough()
  const output = new PassThrough()
  const abort = new AbortController()
  const answer = askAtTerminal(shown, { input, output }, abort.signal)
  return { input, output, abort, answer, text: () => String(output.read() ?? '') }
}

test('shows what it is about, the end of what the verifier wrote, and what each answer does', () => {
  const text = terminal().text()
  for (const part of ['agent', 'stable', "sh 'my check.sh'", '4', '+1 ~2 -0', 'It said nothing.', 'line 19'])
    expect(text).toContain(part)
  expect(text).not.toContain('| line 7\n')
  expect(text).not.toContain('\u001b')
  for (const answer of ['c  continue', 'r  roll back', 's  stop']) expect(text).toContain(answer)
})

test.each([
  ['c', 'continue'],
  ['R', 'rollback'],
  [' stop ', 'stop'],
])('%s is %s', async (typed, resolution) => {
  const { input, answer } = terminal()
  input.write(`${typed}\n`)
  expect(await answer).toBe(resolution)
})

test('repeats itself on anything else, and takes the end of input for stop', async () => {
  const { input, answer, text } = terminal()
  text()
  input.write('yes\n\nmaybe\n')
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(text().match(/c, r or s\?/g)).toHaveLength(3)
  input.end()
  expect(await answer).toBe('stop')
})

test('is withdrawn when somebody else has decided', async () => {
  const { input, answer, abort, text } = terminal()
  abort.abort()
  expect(await answer).toBeNull()
  expect(text()).toContain('Decided elsewhere.')
  input.write('c\n')
})
