/** The text that tells an agent, after a rollback, where it stands. */

/** What every cue begins with. */
const cueMark = '[REWIND]'

export interface CueFacts {
  /** The checkpoint's label, or its id where it has none. */
  label: string
  /** Why it was rolled back: a person's words, an error's or a verdict's text. */
  patchNotes: string | null
  /** The half that was taken back; null for both. */
  only?: 'files' | 'messages' | null
}

const takenBack = {
  files: 'The environment was',
  messages: 'The conversation was',
  both: 'Environment and conversation were',
}
const remains = {
  files:
    'Files and processes are as they were then; the conversation was kept, so what it says about later files no longer holds.',
  messages: 'Files and processes were kept as they are.',
  both: 'Whatever was written, run or said after it no longer exists.',
}

/**
 * The first line of a cue of ours: by this and its last one it is found and replaced, so that cues do not stack. The mark
 * alone is not enough: a person's words may well begin with it, and so may a client's own instructions.
 */
const firstLine =
  /^\[REWIND\] (?:The environment was|The conversation was|Environment and conversation were) taken back to the checkpoint "/

/** @param words of somebody who may not be us */
export const isCueText = (words: string): boolean => firstLine.test(words) && words.endsWith(lastLine)

const lastLine = 'Go on from there.'

/** @returns what happened, the patch notes, and that the agent is to go on from there */
export function resumeCue({ label, patchNotes, only = null }: CueFacts): string {
  const what = only ?? 'both'
  const lines = [`${cueMark} ${takenBack[what]} taken back to the checkpoint "${label}".`, remains[what]]
  if (patchNotes?.trim()) lines.push(`Patch notes: ${patchNotes.trim()}`)
  lines.push(lastLine)
  return lines.join('\n')
}
