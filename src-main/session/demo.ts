/**
 * The demo: an agent's ordinary bad day, played with real commands through the real rules on a scratch copy of a small
 * project. The agent is scripted, since no model is at hand; everything that it touches is not.
 */
import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Message, VerificationFailedError } from '../contract/index.ts'
import { resourceFolder } from '../sandbox/index.ts'
import type { EventHub } from './event-hub.ts'
import type { Session } from './session.ts'

const GOOD = `"""Who may come in."""
import hmac

PASSWORD = "correct-horse"


def authenticate(user, password):
    return user == "admin" and hmac.compare_digest(password, PASSWORD)
`

const BROKEN = `"""Who may come in."""
import hmac

PASSWORD = "correct-horse"
ATTEMPTS = {}


def authenticate(user, password):
    ATTEMPTS[user] = ATTEMPTS.get(user, 0) + 1
    if ATTEMPTS[user] > 5:
        return False
    return user == "admin" and hmac.compare_digest(password, PASSWORD) and
`

const REQUEST: Message = {
  role: 'user',
  content: 'Compare passwords in constant time, then lock an account after five attempts.',
}

const writeCall = (id: string, content: string, says: string): Message => ({
  role: 'assistant',
  content: says,
  tool_calls: [
    { id, type: 'function', function: { name: 'write_file', arguments: JSON.stringify({ path: 'auth.py', content }) } },
  ],
})

/** Milliseconds between steps: slow enough to watch. */
const pace = (): number => Number(process.env.REWIND_DEMO_PACE_MS ?? 1_200)

export class DemoPlayer {
  readonly #home: string
  readonly #hub: EventHub
  readonly #stop = new AbortController()
  #playing = 0

  constructor(parts: { home: string; hub: EventHub }) {
    this.#home = parts.home
    this.#hub = parts.hub
  }

  get playing(): boolean {
    return this.#playing > 0
  }

  /** A scratch copy of the demo's project. @returns its folder, absolute */
  prepareWorkspace(): string {
    const folder = join(
      this.#home,
      '..',
      `${this.#home.split('/').at(-1)}-demo`,
      randomBytes(4).toString('hex'),
      'login-service',
    )
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
    cpSync(resourceFolder('demo-workspace'), folder, { recursive: true })
    return folder
  }

  /** Plays the story in the background; what goes wrong is told as its last step. */
  play(session: Session): void {
    this.#playing++
    this.#story(session)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted)
          this.#tell(session, STEPS, `The demo broke off: ${error instanceof Error ? error.message : String(error)}`)
      })
      .finally(() => this.#playing--)
  }

  stop(): void {
    this.#stop.abort()
  }

  async #story(session: Session): Promise<void> {
    const history: Message[] = [REQUEST]
    const step = async (n: number, text: string) => {
      do await sleep(pace(), undefined, { signal: this.#stop.signal })
      while (session.summary().status === 'paused')
      this.#tell(session, n, text)
    }

    await step(1, 'An agent is asked to harden a login. It works in a sandbox; the project itself is not touched.')
    session.autoCheckpoint({ on: true, keepLast: null })
    session.autoRollback({
      on: true,
      events: ['exception', 'test_failure'],
      to: 'stable',
      verifier: { command: 'sh verify.sh', retries: 1, retryDelayMs: 200, timeoutMs: 30_000 },
    })
    await session.sync({ messages: history, revision: null })

    await step(2, 'It writes auth.py. Every tool call gets a checkpoint first.')
    history.push(writeCall('call_1', GOOD, 'First the comparison.'))
    await session.onToolCall({ messages: history, tool: 'write_file' })
    await session.write({ path: 'auth.py', content: GOOD, encoding: 'utf-8', tool: null })
    history.push({ role: 'tool', tool_call_id: 'call_1', content: 'Wrote auth.py' })

    await step(3, 'The state is good: checkpoint “stable”, and the verifier agrees.')
    await session.checkpoint({ label: 'stable', why: 'constant-time comparison', messages: history, takenBy: 'agent' })
    await session.runTests({ command: null })

    await step(4, 'The next tool call writes a version that does not even parse.')
    history.push(writeCall('call_2', BROKEN, 'Now the lock after five attempts.'))
    await session.onToolCall({ messages: history, tool: 'write_file' })
    await session.write({ path: 'auth.py', content: BROKEN, encoding: 'utf-8', tool: null })

    await step(5, 'The verifier looks at it…')
    await sleep(pace(), undefined, { signal: this.#stop.signal })
    try {
      await session.runTests({ command: null })
      this.#tell(session, STEPS, 'The verifier passed what it should not have; nothing was rolled back.')
      return
    } catch (error) {
      if (!(error instanceof VerificationFailedError)) throw error
    }

    await step(
      6,
      'It failed, so files and conversation went back to “stable” together. The half-made tool call is gone.',
    )
    await step(STEPS, 'Your turn: choose any point, press R to rewind, U to undo it.')
  }

  #tell(session: Session, step: number, text: string): void {
    this.#hub.raise({ session: session.id, type: 'demoStep', step, of: STEPS, text })
  }
}

const STEPS = 7

/** The scratch copy goes with its session, and the folder of all copies with the last of them. */
export function removeDemoWorkspace(workspace: string): void {
  const own = dirname(workspace)
  rmSync(own, { recursive: true, force: true })
  const all = dirname(own)
  if (existsSync(all) && readdirSync(all).length === 0) rmdirSync(all)
}
