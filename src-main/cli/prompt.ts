/** Questions to the person at the terminal, and what comes in by stdin. */
import { DeclinedError } from '../contract/errors.ts'
import { visible } from '../contract/text.ts'
import type { Here } from '../serve/client/index.ts'

/** Whether somebody is there to be asked. */
export const canAsk = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true

/**
 * Asks [y/N] on stderr, so that stdout stays clean.
 * @throws DeclinedError unless the answer is yes
 */
export async function confirm(question: string): Promise<void> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const gaveUp = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  const answer = await Promise.race([lines.question(`${question} [y/N] `), gaveUp])
  lines.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new DeclinedError('Nothing was changed.')
}

/** For a verifier that may have to ask: who sits at this terminal is there, and decides in a dialog. */
export const here: Here = {
  async ask({ sessionName, evidence }, signal) {
    const { askAtTerminal } = await import('../verification/index.ts')
    const { lastResult, ...shown } = evidence
    return askAtTerminal(
      { ...shown, ...lastResult, sessionName },
      { input: process.stdin, output: process.stderr },
      signal,
    )
  },
  tell: (problem) => void process.stderr.write(`${visible(problem)}\n`),
}

/** Everything from stdin. */
export async function readStdin(): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of process.stdin as AsyncIterable<Buffer>) parts.push(Buffer.from(part))
  return Buffer.concat(parts)
}
