/** The verifier: a command in the sandbox that says whether the work is right. */
import {
  formatVerificationResult as format,
  parseVerifierOutput as parse,
  type VerificationResult as Result,
} from '../verification/index.ts'
import { assertOptions, assertValue, command, countFromZero, duration, objectOf, positiveOrNull } from './checks.ts'
import type { Command } from './types.ts'

/** The three verdicts, by name. */
export const VerificationStatus = { pass: 'pass', fail: 'fail', unknown: 'unknown' } as const
/** An unknown is never taken for a pass. */
export type VerificationStatus = (typeof VerificationStatus)[keyof typeof VerificationStatus]

/** A verifier's command, and how patient one is with it. */
export interface VerifierOptions {
  /**
   * What is run in the workspace. Its stdout is the verdict, one JSON object: `{"status": "pass"}`, `"fail"` (with
   * `summary` and `errors`) or `"unknown"`. Its exit code says nothing; everything else goes to stderr.
   */
  command: Command
  /** How often it is run again after an unknown. Default 3. */
  retries?: number | undefined
  /** Milliseconds between two runs. Default 2000. */
  retryDelayMs?: number | undefined
  /** Milliseconds that one run may last; null for no limit. Default 30000. */
  timeoutMs?: number | null | undefined
}

const checks = { command, retries: countFromZero, retryDelayMs: duration, timeoutMs: positiveOrNull }

/**
 * A verifier, or the options of one.
 * @internal
 */
export const anyVerifier = objectOf(checks, 'command')

/** A command in the sandbox that decides whether a change worked. */
export class Verifier {
  readonly command: Command
  readonly retries: number
  readonly retryDelayMs: number
  readonly timeoutMs: number | null

  /** @throws InvalidOptionError naming the option that is wrong, and what it takes */
  constructor(options: VerifierOptions) {
    assertOptions('new Verifier()', options, checks)
    assertValue('command', options.command, command)
    this.command = options.command
    this.retries = options.retries ?? 3
    this.retryDelayMs = options.retryDelayMs ?? 2_000
    this.timeoutMs = options.timeoutMs === undefined ? 30_000 : options.timeoutMs
  }
}

/** What a verifier's output was read as. */
export interface VerificationResult {
  status: VerificationStatus
  summary: string | null
  errors: string[]
  /** The verifier's own notes; for an unknown, the reason and what to do. */
  notes: string | null
}

/** What stdout of a verifier says. */
export interface ParsedVerdict {
  status: VerificationStatus
  /** The object as it was printed, all its fields. */
  verdict?: Record<string, unknown>
  /** How it was found, or why it is unknown. */
  note?: string
  /** What to do about it. */
  hint?: string
}

/**
 * Reads a verdict as the product does: terminal codes, a byte order mark and the status's case are forgiven, and an
 * object among other output counts where it is the only one. Never throws.
 * @param stdout all that the verifier printed
 */
export const parseVerifierOutput = (stdout: string | Uint8Array): ParsedVerdict =>
  parse(typeof stdout === 'string' ? new TextEncoder().encode(stdout) : stdout)

/**
 * @returns the verdict in words: for a pass its summary, for a fail the summary and a line per error, for an unknown
 *   its notes
 */
export const formatVerificationResult = (
  result: Pick<VerificationResult, 'status'> & Partial<VerificationResult>,
): string =>
  format({ summary: null, errors: [], notes: null, ...result } satisfies Partial<Result> & VerificationResult)
