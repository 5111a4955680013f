/**
 * What the host itself remembers of a sandbox in a container, so that it can be shown, and an ended one opened, without
 * asking docker.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxFacts } from '../sandbox.ts'

export class Notes {
  readonly #folder: string

  /** @param home the data folder */
  constructor(home: string) {
    this.#folder = join(home, 'docker')
  }

  write(id: string, facts: SandboxFacts): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    writeFileSync(this.#path(id), JSON.stringify(facts), { mode: 0o600 })
  }

  /** @returns null where nothing is known of it, or what was written was torn */
  read(id: string): SandboxFacts | null {
    try {
      return JSON.parse(readFileSync(this.#path(id), 'utf8')) as SandboxFacts
    } catch {
      return null
    }
  }

  remove(id: string): void {
    rmSync(this.#path(id), { force: true })
  }

  #path(id: string): string {
    return join(this.#folder, `${id}.json`)
  }
}
