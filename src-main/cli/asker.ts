/** Who asks at the command line: a terminal is one, whatever runs in it; all that have none are one together. */
import { readFileSync } from 'node:fs'

/** @param stat the content of /proc/self/stat */
export function askerOf(stat: string | null): string {
  // The program's own name comes before, in brackets, and may hold anything.
  const [, , , , session = '', terminal = '0'] = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 1).split(' ')
  return terminal === '0' ? 'no terminal' : `terminal ${terminal} of ${session}`
}

export function whoAsks(): string {
  try {
    return askerOf(readFileSync('/proc/self/stat', 'utf8'))
  } catch {
    return askerOf(null)
  }
}
