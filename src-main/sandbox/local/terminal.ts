/**
 * Commands with a terminal. util-linux' `script` opens the pseudoterminal inside the sandbox, so that a command with one
 * is started, followed and found again by a later host as every other: what it shows is its standard output, and what a
 * person types goes through the FIFO `keys` of its run folder.
 */
import { closeSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineUnavailableError, InvalidOptionError, type TerminalSize } from '../../contract/index.ts'
import { quote } from '../channel/index.ts'

/** The FIFO for what is typed. `script` holds both its ends, so that a host that goes away closes nothing. */
export const KEYS_FILE = 'keys'
/** Holds the terminal's path once the program has begun. */
export const TTY_FILE = 'tty'
/** A shell script: what runs on the terminal. */
export const TERMINAL_FILE = 'terminal'

/**
 * @param inside the command's run folder as the sandbox sees it
 * @param words the program and its arguments
 * @param shell $SHELL as the program is to see it: `script` starts its own child by it
 * @returns what is started in place of the program, and the content of {@link TERMINAL_FILE}
 */
export function onTerminal(
  inside: string,
  words: readonly string[],
  { columns, rows }: TerminalSize,
  shell: string,
): { words: string[]; file: string } {
  const begin =
    'SHELL=/bin/sh; export SHELL; mkfifo -m 600 "$1" && exec script -qef --echo always -c "$2" /dev/null <>"$1"'
  const file = [
    `tty >${quote(`${inside}/${TTY_FILE}`)}`,
    resizeLine(columns, rows),
    `SHELL=${quote(shell)}`,
    `exec ${words.map(quote).join(' ')}`,
  ].join('\n')
  const start = `. ${quote(`${inside}/${TERMINAL_FILE}`)}`
  return { words: ['/bin/sh', '-c', begin, 'rewind-terminal', `${inside}/${KEYS_FILE}`, start], file: `${file}\n` }
}

const resizeLine = (columns: number, rows: number): string => `stty cols ${columns} rows ${rows}`

export interface TerminalAccess {
  /** Of the command. */
  id: string
  isRunning(): boolean
  keys(): Promise<number | null>
  path(): Promise<string | null>
  /** Runs a program inside, as the agent, to its end. */
  run(words: readonly string[]): Promise<void>
}

/** A command just started makes its terminal within milliseconds; one that has none never does. */
const APPEARS_WITHIN_MS = 2_000
/** A program that reads nothing for so long while the FIFO is full reads no more. */
const TAKES_WITHIN_MS = 10_000

export class Terminal {
  readonly #access: TerminalAccess

  constructor(access: TerminalAccess) {
    this.#access = access
  }

  async type(bytes: Uint8Array): Promise<void> {
    const fd = await this.#appeared(() => this.#access.keys())
    if (fd === null) return
    try {
      let left = bytes
      for (let end = Date.now() + TAKES_WITHIN_MS; left.length > 0 && this.#access.isRunning(); ) {
        const written = writeWithoutWaiting(fd, left)
        left = left.subarray(written)
        if (written > 0) end = Date.now() + TAKES_WITHIN_MS
        else if (Date.now() < end) await sleep(5)
        else
          throw new EngineUnavailableError('The program takes nothing more that is typed.', {
            nextStep: `Stop it with \`rewind stop ${this.#access.id}\`, or wait until it reads again.`,
          })
      }
    } finally {
      closeSync(fd)
    }
  }

  async resize(size: TerminalSize): Promise<void> {
    const tty = await this.#appeared(() => this.#access.path())
    if (tty !== null) await this.#access.run(resizeCommand(tty, size))
  }

  /** @returns null where the command ended meanwhile */
  async #appeared<T>(look: () => Promise<T | null>): Promise<T | null> {
    for (const end = Date.now() + APPEARS_WITHIN_MS; this.#access.isRunning(); await sleep(5)) {
      const found = await look()
      if (found !== null) return found
      if (Date.now() > end)
        throw new InvalidOptionError(`The command ${this.#access.id} has no terminal.`, {
          nextStep: 'Start it with one: `rewind run -- PROGRAM`, or `rewind shell`.',
        })
    }
    return null
  }
}

function writeWithoutWaiting(fd: number, bytes: Uint8Array): number {
  try {
    return writeSync(fd, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
    // `script` is gone, and so is the command in a moment.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return bytes.length
    throw error
  }
}

/** A command that gives a terminal another size; the kernel tells the program in its foreground. */
const resizeCommand = (tty: string, { columns, rows }: TerminalSize): string[] => [
  'stty',
  '-F',
  tty,
  'cols',
  String(columns),
  'rows',
  String(rows),
]
