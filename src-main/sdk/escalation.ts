/** Decisions on verdicts that nobody could give: what a program's own handler is told, and what it may answer. */
import type { Escalation } from '../contract/index.ts'
import { askAtTerminal } from '../verification/index.ts'
import type { Change, Command, FileCounts } from './types.ts'

/** What can be decided. Nothing counts as verified, whichever it is. */
export type EscalationResolution = 'continue' | 'rollback' | 'stop'

/** What a decision is made on. */
export interface EscalationContext {
  /** What a rollback would go back to, as the rule names it; null where no rule says so. */
  checkpoint: string | null
  verifierCommand: Command
  /** What the last of the attempts came to. */
  lastResult: { status: 'pass' | 'fail' | 'unknown'; rawOutput: string; rawStderr: string; notes: string | null }
  attempts: number
  sessionName: string
  /** What differs from that checkpoint: the first paths, and how many there are. */
  changes: Change[]
  counts: FileCounts
  /** Aborted when it was decided elsewhere, ran out of time, or became pointless: an answer is then not heard any more. */
  signal: AbortSignal
}

/** Decides, at once or later. One that throws, or answers anything else, has decided to stop. */
export type EscalationHandler = (context: EscalationContext) => EscalationResolution | Promise<EscalationResolution>

/** @internal */
export const contextOf = ({ evidence, sessionName }: Escalation, signal: AbortSignal): EscalationContext => {
  const { checkpoint, verifierCommand, lastResult, attempts, changes, counts } = evidence
  return { checkpoint, verifierCommand, lastResult, attempts, sessionName, changes, counts, signal }
}

/** Asks on stdin, and shows the question on stderr. The end of input is a stop. */
export const stdinEscalationHandler = async (context: EscalationContext): Promise<EscalationResolution> => {
  const { lastResult, verifierCommand, signal, ...shown } = context
  const answer = await askAtTerminal(
    {
      ...shown,
      ...lastResult,
      verifierCommand: typeof verifierCommand === 'string' ? verifierCommand : [...verifierCommand],
      text: lastResult.notes ?? 'Verifier returned unknown status.',
    },
    { input: process.stdin, output: process.stderr },
    signal,
  )
  return answer ?? 'stop'
}

/** Asks nobody, and stops: for programs that run on their own. */
export const stopEscalationHandler = (_context: EscalationContext): EscalationResolution => 'stop'
