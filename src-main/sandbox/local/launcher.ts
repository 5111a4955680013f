/**
 * The host's end of the launcher: requests go out as names of run folders, what became of them comes back by line. A
 * command is started in a pair of shells that waits for it, which has to be asked for beforehand.
 */
import type { Duplex } from 'node:stream'

export type LauncherNews =
  /** A pair waits; pids as the sandbox numbers them. */
  | { kind: 'ahead'; supervisor: number; command: number }
  | { kind: 'started' | 'no-folder'; folder: string }
  | { kind: 'ended'; folder: string; code: number; signalled: boolean }

/** Longer lines do not come from the launcher. */
const LINE_LIMIT = 4096

const PID = /^[1-9]\d{0,9}$/

export class Launcher {
  readonly pid: number
  /** Resolves when neither the launcher nor any supervisor that it started is left to speak. */
  readonly silent: Promise<void>
  readonly #side: Duplex

  constructor(pid: number, side: Duplex, tell: (news: LauncherNews) => void) {
    this.pid = pid
    this.#side = side
    let rest = ''
    side.setEncoding('latin1')
    side.on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = (lines.pop() ?? '').slice(0, LINE_LIMIT)
      for (const line of lines) {
        const news = parse(line)
        if (news !== null) tell(news)
      }
    })
    this.silent = new Promise((resolve) => side.once('close', () => resolve()))
  }

  /** A launcher ends when nobody can ask it any more; commands that it started go on. */
  close(): void {
    this.#side.destroy()
  }

  /** Makes the next pair ready, in the control group that the launcher is in: once per command, and once before. */
  ahead(): void {
    this.#side.write('ahead\n')
  }

  /** Starts a command in the pair that waits. */
  request(folder: string): void {
    this.#side.write(`run ${folder}\n`)
  }
}

/** The launcher runs as the agent: a line that it could not have written is no news. */
export function parse(line: string): LauncherNews | null {
  const [kind, folder = '', code = '', mark = ''] = line.split(' ')
  if (folder === '') return null
  if (kind === 'ahead')
    return PID.test(folder) && PID.test(code) ? { kind, supervisor: Number(folder), command: Number(code) } : null
  if (kind === 'started' || kind === 'no-folder') return { kind, folder }
  if (kind !== 'ended' || !/^\d{1,3}$/.test(code)) return null
  return { kind, folder, code: Number(code), signalled: mark === 'signal' }
}
