/** What comes of a decision, in words and errors. */
import {
  type AutoRollback,
  type CommandLine,
  DeclinedError,
  type Escalation,
  type Evidence,
  RewindError,
  shellWord,
  VerificationHaltError,
  VerificationUnknownError,
} from '../contract/index.ts'

/** Lines of a verifier's words that an error repeats; the ledger holds all. */
const LINES = 20

const commandText = (command: CommandLine): string =>
  typeof command === 'string' ? command : command.map(shellWord).join(' ')

/** Of a halt: all that a person needs who reads nothing else. @param session how it is named on the command line */
export function haltError(
  evidence: Pick<Evidence, 'attempts' | 'checkpoint' | 'verifierCommand' | 'text' | 'lastResult'>,
  session: { id: string; name: string },
  how: string,
): VerificationHaltError {
  const { attempts, checkpoint, verifierCommand, text, lastResult } = evidence
  const lines = text.split('\n')
  const details = [...lines.slice(0, LINES), ...(lines.length > LINES ? ['…'] : [])].join('\n    ')
  const name = shellWord(session.name)
  return new VerificationHaltError(
    [
      `The verifier could not decide in ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}, and session ${session.name} is halted: ${how}.`,
      `  checkpoint: ${checkpoint ?? 'none'}`,
      `  command: ${commandText(verifierCommand)}`,
      `  details: ${details}`,
      `  inspect: rewind diff --session ${name}, rewind ledger --session ${name}`,
      `  resume: rewind resume --session ${name} --verifier COMMAND once a mended verifier says pass, without --verifier to go on unverified, or rewind rollback --session ${name} ${shellWord(checkpoint ?? 'base')}`,
    ].join('\n'),
    {
      nextStep: 'The sandbox is kept, and waits for a person to look at it.',
      data: { checkpoint, verifierCommand, lastResult, attempts, sessionName: session.name, session: session.id },
    },
  )
}

/** After continue and after rollback: nothing was verified either way. */
export function unknownError(evidence: Evidence, done: AutoRollback | null, epoch: number): VerificationUnknownError {
  const { attempts, checkpoint, verifierCommand, text, lastResult } = evidence
  return new VerificationUnknownError(`Nothing was verified: the verifier could not decide. ${text}`, {
    nextStep: done
      ? `It was decided to roll back: files and messages are back at ${done.to}; go on from there.`
      : 'It was decided to go on all the same. Mend the verifier, then run it again.',
    data: {
      resolution: done ? 'rollback' : 'continue',
      checkpoint,
      verifierCommand,
      lastResult,
      attempts,
      autoRollback: done,
      epoch,
    },
  })
}

const WHO: Record<string, string> = {
  handler: 'by the handler of the program',
  timeout: 'as nobody had answered in time',
  rule: 'as nobody was there to be asked',
}

/** Who decided, or withdrew it, and when: for whoever comes late. */
export function decidedText({ status, resolution, answeredBy, via, answeredAt, note }: Escalation): string {
  const at = answeredAt?.toISOString() ?? ''
  if (status === 'withdrawn') return `withdrawn at ${at}: ${note ?? 'it had become pointless'}`
  const who = WHO[answeredBy ?? ''] ?? `by ${answeredBy ?? 'somebody'}${via === null ? '' : ` (${via})`}`
  return `decided at ${at}, ${who}: ${resolution}`
}

export function lateError(escalation: Escalation): DeclinedError {
  const { id, status, resolution, answeredBy, via, answeredAt, note } = escalation
  return new DeclinedError(`Escalation ${id} was ${decidedText(escalation)}. This answer changes nothing.`, {
    nextStep: '`rewind escalations` lists those that wait.',
    data: { id, status, resolution, answeredBy, via, answeredAt: answeredAt?.toISOString() ?? null, note },
  })
}

export const reasonOf = (error: unknown): string =>
  error instanceof RewindError || error instanceof Error ? error.message : String(error)
