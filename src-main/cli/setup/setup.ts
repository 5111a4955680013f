/**
 * `rewind setup`: puts Rewind into an agent's settings, and takes it out again. What stood there before is kept in the
 * data folder, so that undoing gives it back to the byte; where a file was changed since, only our own part is taken
 * out of it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { AgentName } from '../../contract/agents.ts'
import type { AgentSetup } from './agents.ts'
import { type FileChange, readText, replace, writeAll } from './files.ts'

const Kept = z.object({
  files: z.array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string() })),
})

export interface Outcome {
  changes: FileChange[]
  /** Files that somebody changed after `setup` had written them: only our own part was taken out. */
  changedSince: string[]
}

export class Setup {
  readonly #agent: AgentSetup
  readonly #kept: string

  /** @param home the data folder */
  constructor(name: AgentName, agent: AgentSetup, home: string) {
    this.#agent = agent
    this.#kept = join(home, 'setup', `${name}.json`)
  }

  /** What would be written; files that are as they should be are left out. */
  plan(): Outcome {
    const changes = this.#agent.edits.flatMap(({ path, put }) => {
      const before = readText(path)
      const after = put(before)
      return after === before ? [] : [{ path, before, after }]
    })
    return { changes, changedSince: [] }
  }

  /** Writes it. @throws InvalidPathError; all is as it was then */
  apply(): Outcome {
    const { changes } = this.plan()
    const earlier = this.#load()
    // What it replaces may be its own work of another time: what stood there before that is what undoing goes back to.
    const files = this.#agent.edits.flatMap(({ path, take }) => {
      const known = earlier.get(path)
      const change = changes.find((one) => one.path === path)
      if (!change?.after) return known ? [known] : []
      const { before, after } = change
      if (known && before === known.after) return [{ ...known, after }]
      return [{ path, before: known && before !== null ? take(before) : before, after }]
    })
    if (changes.length === 0) return { changes, changedSince: [] }
    const text = JSON.stringify({ files })
    const written = existsSync(this.#kept) ? readFileSync(this.#kept, 'utf8') : null
    mkdirSync(dirname(this.#kept), { recursive: true, mode: 0o700 })
    replace(this.#kept, text)
    try {
      writeAll(changes)
    } catch (error) {
      replace(this.#kept, written)
      throw error
    }
    return { changes, changedSince: [] }
  }

  /** What undoing would write. */
  planUndo(): Outcome {
    const earlier = this.#load()
    const changedSince: string[] = []
    const changes = this.#agent.edits.flatMap(({ path, take, empty }) => {
      const now = readText(path)
      const known = earlier.get(path)
      if (now === null) return []
      const untouched = known?.after === now
      // A file that was there before stays, also where nothing is left in it.
      const after = untouched ? known.before : (take(now) ?? (typeof known?.before === 'string' ? empty : null))
      if (after === now) return []
      if (known && !untouched) changedSince.push(path)
      return [{ path, before: now, after }]
    })
    return { changes, changedSince }
  }

  undo(): Outcome {
    const outcome = this.planUndo()
    writeAll(outcome.changes)
    rmSync(this.#kept, { force: true })
    return outcome
  }

  #load(): Map<string, { path: string; before: string | null; after: string }> {
    if (!existsSync(this.#kept)) return new Map()
    // Damaged, it is as if it were not there: our own part is found without it.
    const read = Kept.safeParse(jsonOr(readFileSync(this.#kept, 'utf8'), null))
    return new Map((read.data?.files ?? []).map((file) => [file.path, file]))
  }
}

function jsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return otherwise
  }
}
