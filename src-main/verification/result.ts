/** A verification as it is recorded, and as it is told to people and agents. */
import type { VerdictStatus } from '../contract/index.ts'
import type { ParsedOutput } from './parse.ts'

export interface VerificationResult {
  status: VerdictStatus
  summary: string | null
  errors: string[]
  /** The verifier's own notes; how the verdict was found; for an unknown, the reason and what to do. */
  notes: string | null
  rawOutput: string
  rawStderr: string
  /** Runs that it took. */
  attempts: number
  /** The object that the verifier printed; null where there was none. */
  verdict: Record<string, unknown> | null
}

/** Bytes of each stream that a record keeps. */
const rawBytes = 256 << 10

/** Characters at the end of a stream that was cut off: what of a secret stands there is not known for one. */
const cutEnd = 64 << 10

const textOf = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null)

const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null || value === '' ? [] : [value]

/**
 * The end is what tells why a program failed, so that is what is kept of a long output.
 * @param isCut there was more of it
 */
function rawText(output: Uint8Array, isCut: boolean, redact: (text: string) => string): string {
  const clean = redact(new TextDecoder().decode(output))
  const bytes = new TextEncoder().encode(isCut && clean.length > cutEnd ? clean.slice(0, -cutEnd) : clean)
  const left = bytes.length - rawBytes
  const text = new TextDecoder().decode(left > 0 ? bytes.subarray(left) : bytes)
  return left > 0 ? `[${left} bytes left out]\n${text}` : text
}

/** @param parsed what stdout said @param attempts runs so far @param redact what takes secrets out */
export function resultOf(
  parsed: ParsedOutput,
  output: { stdout: Uint8Array; stderr: Uint8Array; flooded: boolean; stderrFlooded?: boolean },
  attempts: number,
  redact: (text: string) => string = (text) => text,
): VerificationResult {
  const verdict = parsed.verdict ?? null
  const summary = textOf(verdict?.summary) ?? textOf(verdict?.message)
  const said = textOf(verdict?.notes)
  // A verifier that says unknown itself often gives its reason as summary and error.
  const reason = parsed.status === 'unknown' ? [summary, textOf(verdict?.error)] : []
  const notes = said === null ? reason : [said]
  return {
    status: parsed.status,
    summary,
    errors: listOf(verdict?.errors).map((error) => (typeof error === 'string' ? error : JSON.stringify(error))),
    notes: [...notes, parsed.note, parsed.hint].filter((line) => line).join('\n') || null,
    rawOutput: rawText(output.stdout, output.flooded, redact),
    rawStderr: rawText(output.stderr, output.stderrFlooded === true, redact),
    attempts,
    verdict,
  }
}

/** @returns the verdict in words */
export function formatVerificationResult(
  result: Pick<VerificationResult, 'status' | 'summary' | 'errors' | 'notes'>,
): string {
  const { status, summary, errors, notes } = result
  if (status === 'pass') return summary ?? 'Verification passed.'
  if (status === 'unknown') return notes ?? 'Verifier returned unknown status.'
  const headline = summary ?? 'Verification failed'
  return errors.length === 0 ? headline : [`${headline}:`, ...errors.map((error) => `  - ${error}`)].join('\n')
}
