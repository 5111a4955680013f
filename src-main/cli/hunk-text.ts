/** A hunk in a terminal: as in a patch, without the lines around it, and with what no line shows of it. */
import { isOnlyLineEnds } from '../contract/commit-words.ts'
import type { FileStretch } from '../contract/index.ts'
import { visible } from '../contract/text.ts'

export function hunkText({ id, at, kind, base, host, sandbox }: FileStretch): string {
  const isClash = kind === 'clash'
  const all = [base, sandbox, ...(isClash ? [host] : [])].flat()
  // Where all lines end alike there is nothing to tell apart.
  const isMixed = all.some(isCrlf) && all.some((line) => line.endsWith('\n') && !isCrlf(line))
  const signed = (sign: string, lines: readonly string[]): string[] =>
    lines.flatMap((line) => [
      `${sign}${visible(line.replace(isMixed ? /\n$/ : /\r?\n$/, ''))}`,
      ...(line.endsWith('\n') ? [] : ['\\ no newline at the end']),
    ])
  const head = [`${id}  line ${at.sandbox}`]
  if (isClash) head.push('! changed on the host too')
  else if (isOnlyLineEnds({ base, sandbox })) head.push('only line endings differ')
  return [head.join('  '), ...signed('-', base), ...(isClash ? signed('h', host) : []), ...signed('+', sandbox)].join(
    '\n',
  )
}

const isCrlf = (line: string): boolean => line.endsWith('\r\n')
