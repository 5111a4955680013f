/** Our terminal lent to a command in the sandbox: keys and size go in, what it shows comes out as it is. */
import { spawnSync } from 'node:child_process'
import type { TerminalSize } from '../contract/index.ts'
import type { Rpc } from '../serve/client/index.ts'

interface Running {
  session: string
  id: string
}

/** Whether we are at a terminal with both hands. */
export const atTerminal = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

export const terminalSize = (): TerminalSize => ({
  columns: process.stdout.columns || 80,
  rows: process.stdout.rows || 24,
})

/**
 * Lends our terminal until all that the command showed is on it; the terminal is as it was then, whatever happened.
 * @throws what following or typing throws
 */
export async function lendTerminal(rpc: Rpc, running: Running): Promise<void> {
  const over = new AbortController()
  const failed = Promise.withResolvers<never>()
  const keys = new InOrder(async (bytes) => {
    await rpc.commands.type({ ...running, bytes: bytes.toString('base64') })
  }, failed.reject)
  const onKeys = (bytes: Buffer) => keys.push(bytes)
  const onResize = () => {
    rpc.commands.resize({ ...running, size: terminalSize() }).catch(failed.reject)
  }
  makeRaw()
  process.stdin.on('data', onKeys).resume()
  process.stdout.on('resize', onResize)
  try {
    await Promise.race([show(rpc, running, over.signal), failed.promise])
  } finally {
    over.abort()
    process.stdout.off('resize', onResize)
    process.stdin.off('data', onKeys).pause()
    process.stdin.setRawMode(false)
  }
}

/** Node's raw mode goes on turning line feeds into new lines, which is the inner terminal's to do. */
function makeRaw(): void {
  process.stdin.setRawMode(true)
  // Where there is no stty, a program that moves its cursor by bare line feeds is drawn askew.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}

async function show(rpc: Rpc, running: Running, signal: AbortSignal): Promise<void> {
  const parts = await rpc.commands.follow({ ...running, stream: 'stdout', offset: 0 }, { signal })
  for await (const { bytes } of parts)
    if (!process.stdout.write(Buffer.from(bytes, 'base64')))
      await new Promise((resolve) => process.stdout.once('drain', resolve))
}

/** Sends what is typed in its order, all that came meanwhile in one piece. */
class InOrder {
  #waiting: Buffer[] = []
  #sending = false
  readonly #send: (bytes: Buffer) => Promise<void>
  readonly #fail: (error: unknown) => void

  constructor(send: (bytes: Buffer) => Promise<void>, fail: (error: unknown) => void) {
    this.#send = send
    this.#fail = fail
  }

  push(bytes: Buffer): void {
    this.#waiting.push(bytes)
    if (!this.#sending) this.#drain().catch(this.#fail)
  }

  async #drain(): Promise<void> {
    this.#sending = true
    try {
      while (this.#waiting.length > 0) await this.#send(Buffer.concat(this.#waiting.splice(0)))
    } finally {
      this.#sending = false
    }
  }
}
