/**
 * Who may come in by a browser: whoever shows a single-use code that the host gave to its owner, and from then on the
 * key it was exchanged for. Nothing secret is ever part of an address that is sent (a code stands behind the #) and
 * only hashes are kept, so that neither argv, nor a log, nor a copy of the store lets anybody in.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Where the hashes of keys are kept, so that a restart of the host signs nobody out. */
export interface AuthStorage {
  load(): string | null
  save(value: string): void
}

export type Exchange = { ok: true; key: string } | { ok: false; reason: 'wrong' | 'too-many' }

const CODE_LIVES_MS = 60_000
const CODES_AT_ONCE = 16
const WRONG_PER_MINUTE = 10
const BROWSERS = 32
const BROWSER_LIVES_MS = 30 * 24 * 3_600_000

interface Browser {
  hash: string
  seenAt: number
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

export class BrowserAuth {
  readonly #storage: AuthStorage
  readonly #now: () => number
  #codes: { hash: Buffer; until: number }[] = []
  #wrongAt: number[] = []
  #browsers: Browser[]

  constructor(storage: AuthStorage, now: () => number = Date.now) {
    this.#storage = storage
    this.#now = now
    this.#browsers = parseBrowsers(storage.load())
  }

  /** A code for one exchange within 60 s. */
  newCode(): string {
    const code = randomBytes(32).toString('base64url')
    this.#codes.push({ hash: hashOf(code), until: this.#now() + CODE_LIVES_MS })
    this.#codes = this.#codes.slice(-CODES_AT_ONCE)
    return code
  }

  /**
   * Exchanges a code for a key. Ten wrong ones within a minute void every code that is out and are answered
   * 'too-many' until the minute is over.
   */
  exchange(code: string): Exchange {
    const now = this.#now()
    this.#wrongAt = this.#wrongAt.filter((at) => at > now - 60_000)
    if (this.#wrongAt.length >= WRONG_PER_MINUTE) {
      this.#codes = []
      return { ok: false, reason: 'too-many' }
    }
    this.#codes = this.#codes.filter((known) => known.until > now)
    const hash = hashOf(code)
    // Every code is compared, whatever the ones before it said: the time taken tells nothing.
    const matches = this.#codes.map((known) => timingSafeEqual(known.hash, hash))
    const found = matches.indexOf(true)
    if (found < 0) {
      this.#wrongAt.push(now)
      return { ok: false, reason: 'wrong' }
    }
    this.#codes.splice(found, 1)
    return { ok: true, key: this.#newBrowser(now) }
  }

  /** Whether a key is one that was given out, and not too long ago. */
  admits(key: string | null): boolean {
    if (!key) return false
    const now = this.#now()
    const hash = hashOf(key)
    const browser = this.#browsers.find((known) => timingSafeEqual(Buffer.from(known.hash, 'hex'), hash))
    if (!browser || browser.seenAt < now - BROWSER_LIVES_MS) return false
    // Written at most hourly: it only has to say roughly which browsers are still used.
    if (browser.seenAt < now - 3_600_000) {
      browser.seenAt = now
      this.#save()
    }
    return true
  }

  #newBrowser(now: number): string {
    const key = randomBytes(32).toString('base64url')
    this.#browsers.push({ hash: hashOf(key).toString('hex'), seenAt: now })
    this.#browsers = this.#browsers
      .filter((known) => known.seenAt > now - BROWSER_LIVES_MS)
      .sort((a, b) => a.seenAt - b.seenAt)
      .slice(-BROWSERS)
    this.#save()
    return key
  }

  #save(): void {
    this.#storage.save(JSON.stringify(this.#browsers))
  }
}

/** What is damaged signs browsers out; it must not keep the host from starting. */
function parseBrowsers(stored: string | null): Browser[] {
  try {
    const parsed: unknown = JSON.parse(stored ?? '[]')
    if (!Array.isArray(parsed)) return []
    return parsed.filter(
      (one: Partial<Browser>) => /^[0-9a-f]{64}$/.test(one.hash ?? '') && typeof one.seenAt === 'number',
    )
  } catch {
    return []
  }
}
