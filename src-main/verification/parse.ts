/**
 * The verifier's contract: its stdout is the verdict. What is not clearly one is unknown, never read as pass or fail.
 */
import { VerdictStatus } from '../contract/index.ts'
import { cleanText } from './clean-text.ts'
import { jsonObjectsWith, parseJson } from './json-objects.ts'

/** More stdout than this is a flood, not a verdict. */
const floodBytes = 1 << 20

export interface ParsedOutput {
  status: VerdictStatus
  /** The object as it was printed, all its fields. */
  verdict?: Record<string, unknown>
  /** How it was found, or why it is unknown. */
  note?: string
  /** What to do about it. */
  hint?: string
}

const contractHint =
  'Print one JSON object such as {"status": "pass"} to stdout (pass, fail or unknown), and everything else to stderr.'

const unknown = (note: string): ParsedOutput => ({ status: 'unknown', note, hint: contractHint })

/** The status that an object names; undefined where it is none of the three. */
function statusOf(verdict: Record<string, unknown>): VerdictStatus | undefined {
  const { status } = verdict
  return typeof status === 'string' ? VerdictStatus.safeParse(status.trim().toLowerCase()).data : undefined
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function judge(verdict: Record<string, unknown>): ParsedOutput {
  const status = statusOf(verdict)
  return status
    ? { status, verdict }
    : { ...unknown(`The verdict's status is ${shown(verdict.status)}, which is none of pass, fail, unknown.`), verdict }
}

function judgeAmongOutput(text: string): ParsedOutput {
  const verdicts = jsonObjectsWith('status', text)
  const last = verdicts.at(-1)
  if (!last) return unknown('stdout holds no JSON object with a status.')
  const statuses = new Set(verdicts.map((verdict) => statusOf(verdict) ?? shown(verdict.status)))
  if (statuses.size > 1) return unknown(`stdout holds verdicts that differ: ${[...statuses].join(', ')}.`)
  const parsed = judge(last)
  return parsed.note ? parsed : { ...parsed, note: 'The verdict was found among other output on stdout.' }
}

/** @param stdout all that the verifier printed, as bytes. Never throws. */
export function parseVerifierOutput(stdout: Uint8Array): ParsedOutput {
  if (stdout.length > floodBytes)
    return unknown(`stdout is a flood: ${stdout.length} bytes, where ${floodBytes} are looked at.`)
  const clean = cleanText(stdout)
  if (clean === null) return unknown('stdout is binary, not text.')
  // A byte order mark behind a colour code is white space to trim.
  const text = clean.trim()
  if (text === '') return unknown('The verifier printed nothing on stdout.')
  const whole = parseJson(text)
  if (whole === undefined) return judgeAmongOutput(text)
  if (Array.isArray(whole)) return unknown('stdout is a JSON array, not an object.')
  if (typeof whole !== 'object' || whole === null) return unknown(`stdout is ${shown(whole)}, not a JSON object.`)
  if (!Object.hasOwn(whole, 'status')) return unknown('The JSON object on stdout has no status.')
  return judge(whole as Record<string, unknown>)
}
