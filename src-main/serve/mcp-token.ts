/** The token that agents show when they come in over HTTP: made once per data folder, renewed when a person asks. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

export interface TokenStorage {
  load(): string | null
  save(value: string): void
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export class McpToken {
  readonly #storage: TokenStorage
  #token: string

  constructor(storage: TokenStorage) {
    this.#storage = storage
    this.#token = storage.load() ?? this.renew()
  }

  get value(): string {
    return this.#token
  }

  /** @returns the new token; the old one is void at once */
  renew(): string {
    this.#token = randomBytes(32).toString('base64url')
    this.#storage.save(this.#token)
    return this.#token
  }

  /** @param authorization the request's header */
  admits(authorization: string | undefined): boolean {
    const [, shown] = /^Bearer ([\w-]+)$/i.exec(authorization ?? '') ?? []
    return shown !== undefined && timingSafeEqual(digest(shown), digest(this.#token))
  }
}
