import { describe, expect, it } from 'vitest'
import { CancelledError, VerifierSpec } from '../contract/index.ts'
import { formatVerificationResult, runVerifier, type VerifierRun } from './index.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

const ended = (stdout: string, given: Partial<VerifierRun> = {}): VerifierRun => ({
  stdout: bytes(stdout),
  stderr: bytes(''),
  status: 'exited',
  code: 0,
  signal: null,
  flooded: false,
  ...given,
})

/** Runs a verifier whose runs end in these ways, the last one for ever; tells what happened in which order. */
async function verify(
  runs: VerifierRun[],
  given: Partial<VerifierSpec> = {},
  signal?: AbortSignal,
  redact?: (text: string) => string,
) {
  const happened: string[] = []
  let run = 0
  const result = await runVerifier(
    VerifierSpec.parse({ command: 'check', ...given }),
    async (command, timeoutMs) => {
      happened.push(`run ${command} ${timeoutMs}`)
      return runs[Math.min(run++, runs.length - 1)] ?? ended('')
    },
    {
      onAttempt: (attempt, of, outcome) => happened.push(`attempt ${attempt}/${of} ${outcome?.status ?? 'begins'}`),
      sleep: async (ms) => void happened.push(`sleep ${ms}`),
      ...(signal ? { signal } : {}),
      ...(redact ? { redact } : {}),
    },
  )
  return { result, happened }
}

describe('runs', () => {
  it('once where the verdict is clear', async () => {
    const { result, happened } = await verify([ended('{"status": "pass", "summary": "12 passed"}')])
    expect(result).toEqual({
      status: 'pass',
      summary: '12 passed',
      errors: [],
      notes: null,
      rawOutput: '{"status": "pass", "summary": "12 passed"}',
      rawStderr: '',
      attempts: 1,
      verdict: { status: 'pass', summary: '12 passed' },
    })
    expect(happened).toEqual(['attempt 1/4 begins', 'run check 30000', 'attempt 1/4 pass'])
  })

  it('never again after a fail', async () => {
    const { result } = await verify([
      ended('{"status": "fail", "errors": ["x"]}', { code: 1 }),
      ended('{"status":"pass"}'),
    ])
    expect(result).toMatchObject({ status: 'fail', attempts: 1, errors: ['x'] })
  })

  it('again after an unknown, with the delay between, until there is a verdict', async () => {
    const { result, happened } = await verify([ended(''), ended('oops'), ended('{"status": "pass"}')], {
      retryDelayMs: 7,
    })
    expect(result).toMatchObject({ status: 'pass', attempts: 3 })
    expect(happened.filter((line) => !line.startsWith('attempt'))).toEqual([
      'run check 30000',
      'sleep 7',
      'run check 30000',
      'sleep 7',
      'run check 30000',
    ])
  })

  it('at most retries + 1 times', async () => {
    const { result, happened } = await verify([ended('')], { retries: 2, timeoutMs: null })
    expect(result).toMatchObject({ status: 'unknown', attempts: 3 })
    expect(happened.filter((line) => line === 'run check null')).toHaveLength(3)
    expect(happened.filter((line) => line.startsWith('sleep'))).toHaveLength(2)
    expect((await verify([ended('')], { retries: 0 })).happened).toEqual([
      'attempt 1/1 begins',
      'run check 30000',
      'attempt 1/1 unknown',
    ])
  })

  it('no more after one that was stopped', async () => {
    const { result } = await verify([ended('', { status: 'cancelled', code: null }), ended('{"status":"pass"}')])
    expect(result).toMatchObject({ status: 'unknown', attempts: 1, notes: expect.stringContaining('was stopped') })
  })

  it('end with CancelledError when the caller gives up, in the midst of a real delay too', async () => {
    const controller = new AbortController()
    const waiting = runVerifier(VerifierSpec.parse({ command: 'check', retryDelayMs: 60_000 }), async () => ended(''), {
      onAttempt: (_attempt, _of, result) => result && setTimeout(() => controller.abort(), 5),
      signal: controller.signal,
    })
    await expect(waiting).rejects.toBeInstanceOf(CancelledError)
    await expect(verify([ended('')], {}, AbortSignal.abort())).rejects.toBeInstanceOf(CancelledError)
  })

  it('pass on what goes wrong with the sandbox', async () => {
    const broken = runVerifier(VerifierSpec.parse({ command: 'x' }), () => Promise.reject(new Error('engine')), {
      onAttempt: () => {},
    })
    await expect(broken).rejects.toThrow('engine')
  })
})

describe('a run', () => {
  it('counts by its stdout, whatever its exit code', async () => {
    expect((await verify([ended('{"status": "pass"}', { code: 1 })])).result.status).toBe('pass')
    expect((await verify([ended('{"status": "fail"}', { code: 0 })])).result.status).toBe('fail')
    expect((await verify([ended('all is well', { code: 0 })], { retries: 0 })).result.status).toBe('unknown')
  })

  it.each<[string, Partial<VerifierRun>, string]>([
    ['did not end in time', { status: 'timed-out', code: null }, 'did not end within 30 s'],
    ['was killed', { code: null, signal: 'SIGSEGV' }, 'killed by SIGSEGV'],
    ['was lost with its sandbox', { status: 'lost', code: null }, 'its sandbox was killed'],
    ['flooded stdout', { flooded: true }, 'flooded stdout'],
  ])('that %s is unknown, even where it had printed a verdict', async (_what, how, note) => {
    const { result } = await verify([ended('{"status": "pass"}', how)], { retries: 0 })
    expect(result).toMatchObject({ status: 'unknown', verdict: null, rawOutput: '{"status": "pass"}' })
    expect(result.notes).toContain(note)
    expect(formatVerificationResult(result)).toBe(result.notes)
  })

  it('that is unknown keeps both streams and says why, with a hint', async () => {
    const crash = ended('half a', { code: 127, stderr: bytes('sh: pytest: not found\n') })
    const { result } = await verify([crash], { retries: 0 })
    expect(result).toMatchObject({ rawOutput: 'half a', rawStderr: 'sh: pytest: not found\n' })
    expect(result.notes).toMatch(
      /no JSON object with a status\. It ended with exit code 127\.\n.*not found in the sandbox/,
    )
    const silent = await verify([ended('', { code: 2 })], { retries: 0 })
    expect(silent.result.notes).toMatch(/printed nothing on stdout\. It ended with exit code 2\.\n.*JSON object/)
  })

  it('says in its notes that the verdict was found among other output', async () => {
    const { result } = await verify([ended('log\n{"status": "pass", "notes": "slow today"}')])
    expect(result.notes).toBe('slow today\nThe verdict was found among other output on stdout.')
  })

  it('keeps the end of an output that is very long', async () => {
    const { result } = await verify([ended(`${'x'.repeat(1 << 20)} the end`)], { retries: 0 })
    expect(result.rawOutput.length).toBeLessThan(300_000)
    expect(result.rawOutput).toMatch(/^\[\d+ bytes left out\]\n/)
    expect(result.rawOutput).toMatch(/the end$/)
  })

  it('takes secrets out before it cuts, so that no part of one stays at a cut', async () => {
    const redact = (text: string) => text.replaceAll('hunter2222', '[redacted]')
    const early = `hunter2222${'y'.repeat((256 << 10) - 5)}`
    const late = `${'x'.repeat((1 << 20) - 5)}hunte`
    const floods = { flooded: true, stderrFlooded: true, stderr: bytes(late) }
    const once = { retries: 0 }
    const { result } = await verify([ended(early, { stderr: bytes(early) })], once, undefined, redact)
    const { result: flood } = await verify([ended(late, floods)], once, undefined, redact)
    for (const kept of [result.rawOutput, result.rawStderr, flood.rawOutput, flood.rawStderr]) {
      expect(kept).not.toMatch(/2222|hunte/)
      expect(kept.length).toBeGreaterThan(200_000)
    }
  })
})

describe('the formatted verdict', () => {
  const tell = async (verdict: object) =>
    formatVerificationResult((await verify([ended(JSON.stringify(verdict))], { retries: 0 })).result)

  it.each([
    ['pass with a summary', { status: 'pass', summary: 'All good', message: 'no' }, 'All good'],
    ['pass with a message', { status: 'pass', message: 'fine' }, 'fine'],
    ['pass alone', { status: 'pass' }, 'Verification passed.'],
    ['pass with what is no summary', { status: 'pass', summary: 3, message: '' }, 'Verification passed.'],
    ['fail alone', { status: 'fail' }, 'Verification failed'],
    ['fail with a summary', { status: 'fail', summary: '2 failed' }, '2 failed'],
    ['fail with errors', { status: 'fail', errors: ['a', 'b'] }, 'Verification failed:\n  - a\n  - b'],
    ['fail with both', { status: 'fail', summary: '1 failed', errors: [{ line: 3 }] }, '1 failed:\n  - {"line":3}'],
    ['fail with one error', { status: 'fail', errors: 'only one' }, 'Verification failed:\n  - only one'],
    ['unknown with notes', { status: 'unknown', notes: 'no network' }, 'no network'],
    [
      'unknown with its reason',
      { status: 'unknown', summary: 'Verifier crashed', error: 'E1' },
      'Verifier crashed\nE1',
    ],
    ['unknown alone', { status: 'unknown' }, 'Verifier returned unknown status.'],
  ])('%s', async (_what, verdict, text) => {
    expect(await tell(verdict)).toBe(text)
  })
})
