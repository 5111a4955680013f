/**
 * Runs a verifier until it gives a verdict. Only unknown is worth another run: a fail is an answer. A run that did not
 * end by itself is unknown whatever it had printed, for it may have had more to say.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { CancelledError, type CommandLine, type VerifierSpec } from '../contract/index.ts'
import { type ParsedOutput, parseVerifierOutput } from './parse.ts'
import { resultOf, type VerificationResult } from './result.ts'

export interface VerifierRun {
  stdout: Uint8Array
  stderr: Uint8Array
  status: 'exited' | 'timed-out' | 'cancelled' | 'lost'
  code: number | null
  signal: string | null
  /** True where more was printed than `stdout` holds. */
  flooded: boolean
  /** The same of `stderr`. */
  stderrFlooded?: boolean
}

/** Runs one command in the sandbox. @param timeoutMs null: no limit */
export type RunCommand = (command: CommandLine, timeoutMs: number | null) => Promise<VerifierRun>

export interface VerifierOptions {
  /** Takes secrets out of what is kept of the output. */
  redact?(text: string): string
  /** Told before each run (result null) and after it. */
  onAttempt(attempt: number, of: number, result: VerificationResult | null): void
  signal?: AbortSignal
  sleep?(ms: number): Promise<void>
}

const unfinished = (note: string, hint: string): ParsedOutput => ({ status: 'unknown', note, hint })

const hintsByCode: Record<number, string> = {
  126: 'The command was found in the sandbox but cannot be executed: see its mode and its first line.',
  127: 'The command was not found in the sandbox: see its name and PATH there.',
}

function judgeRun(run: VerifierRun, spec: VerifierSpec): ParsedOutput {
  if (run.status === 'timed-out')
    return unfinished(
      `The verifier did not end within ${(spec.timeoutMs ?? 0) / 1000} s.`,
      'Give it more time (timeoutMs) or make it do less.',
    )
  if (run.status === 'cancelled') return unfinished('The verifier was stopped.', 'Run it again.')
  if (run.status === 'lost')
    return unfinished('The verifier ended unseen: its sandbox was killed.', 'Run it again once the sandbox is back.')
  if (run.signal !== null)
    return unfinished(`The verifier was killed by ${run.signal}.`, 'See its stderr and the memory that it may use.')
  if (run.flooded)
    return unfinished('The verifier flooded stdout.', 'Print the verdict alone to stdout and send logs to a file.')
  const parsed = parseVerifierOutput(run.stdout)
  if (parsed.verdict || !run.code) return parsed
  return {
    ...parsed,
    note: `${parsed.note ?? ''} It ended with exit code ${run.code}.`.trimStart(),
    hint: hintsByCode[run.code] ?? parsed.hint ?? '',
  }
}

/**
 * @returns the first verdict that is not unknown, else the last unknown, after at most `spec.retries` + 1 runs; a run
 * that was stopped is not repeated
 * @throws CancelledError when `options.signal` aborts; whatever `run` throws
 */
export async function runVerifier(
  spec: VerifierSpec,
  run: RunCommand,
  options: VerifierOptions,
): Promise<VerificationResult> {
  const { onAttempt, signal, sleep = (ms) => delay(ms, undefined, signal ? { signal } : {}) } = options
  const refuseWhenAborted = () => {
    if (signal?.aborted) throw new CancelledError('The verification was cancelled.', { cause: signal.reason })
  }
  const of = spec.retries + 1
  for (let attempt = 1; ; attempt++) {
    refuseWhenAborted()
    onAttempt(attempt, of, null)
    const output = await run(spec.command, spec.timeoutMs)
    refuseWhenAborted()
    const result = resultOf(judgeRun(output, spec), output, attempt, options.redact)
    onAttempt(attempt, of, result)
    if (result.status !== 'unknown' || output.status === 'cancelled' || attempt === of) return result
    try {
      await sleep(spec.retryDelayMs)
    } catch (error) {
      refuseWhenAborted()
      throw error
    }
  }
}
