/**
 * The question at a terminal: evidence first, then the three answers. What is no answer is asked for again, and the end of
 * input is a stop: nobody who has gone is taken to agree.
 */
import { createInterface } from 'node:readline'
import type { Evidence, Resolution } from '../contract/index.ts'
import { bytes, shellWord, visible, visibleName } from '../contract/text.ts'

/** What a question shows. */
export type Shown = Pick<Evidence, 'checkpoint' | 'verifierCommand' | 'attempts' | 'text' | 'counts'> & {
  sessionName: string
  /** What the verifier wrote, the end of it. */
  rawOutput: string
  rawStderr: string
}

export interface Terminal {
  input: NodeJS.ReadableStream
  output: NodeJS.WritableStream
}

/** Lines of each stream of the verifier's that are shown; the window and the ledger hold all. */
const LINES = 12

const ANSWERS: Record<string, Resolution> = {
  c: 'continue',
  continue: 'continue',
  r: 'rollback',
  rollback: 'rollback',
  'roll back': 'rollback',
  s: 'stop',
  stop: 'stop',
}

/** @returns the answer; null once the signal aborts, as somebody else has decided */
export function askAtTerminal(
  shown: Shown,
  { input, output }: Terminal,
  signal: AbortSignal,
): Promise<Resolution | null> {
  const { promise, resolve } = Promise.withResolvers<Resolution | null>()
  if (signal.aborted) return Promise.resolve(null)
  output.write(questionText(shown))
  const lines = createInterface({ input, output })
  const withdraw = () => {
    output.write('\nDecided elsewhere.\n')
    resolve(null)
    lines.close()
  }
  signal.addEventListener('abort', withdraw)
  lines.on('line', (line) => {
    const answer = ANSWERS[line.trim().toLowerCase()]
    if (answer) {
      resolve(answer)
      lines.close()
    } else lines.prompt()
  })
  lines.on('close', () => {
    signal.removeEventListener('abort', withdraw)
    resolve('stop')
  })
  lines.setPrompt('c, r or s? ')
  lines.prompt()
  return promise
}

export function questionText(shown: Shown): string {
  const { sessionName, checkpoint, verifierCommand, attempts, text, counts, rawOutput, rawStderr } = shown
  const command = typeof verifierCommand === 'string' ? verifierCommand : verifierCommand.map(shellWord).join(' ')
  const target = checkpoint === null ? 'the rule’s checkpoint' : visibleName(checkpoint)
  return [
    '',
    'The verifier could not decide. What now?',
    `  session     ${visibleName(sessionName)}`,
    `  checkpoint  ${checkpoint === null ? 'none' : target}`,
    `  command     ${visibleName(command)}`,
    `  attempts    ${attempts}`,
    `  changes     +${counts.added} ~${counts.modified} -${counts.deleted}`,
    `  details     ${visible(text).split('\n').join('\n              ')}`,
    ...streamText('stdout', rawOutput),
    ...streamText('stderr', rawStderr),
    '  c  continue: go on; nothing counts as verified',
    `  r  roll back: files and messages go back to ${target}`,
    '  s  stop: halt the session until a person has looked at it',
    '',
  ].join('\n')
}

function streamText(name: string, text: string): string[] {
  const lines = visible(text).trimEnd().split('\n')
  if (lines.length === 1 && lines[0] === '') return []
  const left = lines.length - LINES
  const head = left > 0 ? `  ${name} (${bytes(Buffer.byteLength(text))}, its end)` : `  ${name}`
  return [head, ...lines.slice(-LINES).map((line) => `  | ${line}`)]
}
