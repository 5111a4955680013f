/**
 * Keeps a session informed of its workspace on the host: where that changes, what a live base shows changes with it, at
 * earlier points too, and a commit meets it. Nothing waits for this, and nothing fails by it.
 */
import { existsSync } from 'node:fs'
import { isLive, type Point } from '../contract/index.ts'
import type { HostCheck, HostReport } from '../sandbox/index.ts'
import type { SessionContext } from './context.ts'

export class HostWatch {
  readonly #context: SessionContext
  #over = false

  constructor(context: SessionContext) {
    this.#context = context
  }

  /** Begins to watch, also where an earlier host had left off. */
  async begin(): Promise<void> {
    const context = this.#context
    const { workspace, createdAt } = context.row
    try {
      await context.hostFolders.track(context.id, workspace, createdAt.getTime(), (report) => this.#tell(report))
    } catch {
      // Gone, out of reach, or no room to write down what it holds: then that is what there is to say.
      this.#tell({ checked: false, there: existsSync(workspace), changed: 0, changes: [] })
    }
  }

  /** What changed on the host before a point that was just taken is said by the point. */
  afterPoint(point: Point): void {
    const context = this.#context
    const asked = context.hostFolders.check(context.id)
    // Looked at in the job below, which may come to nothing.
    asked.catch(() => {})
    context.quiet.later(`host ${point.id}`, async () => {
      const check = await asked
      if (check === null) return
      const { fresh, ...report } = check
      this.#tell(report)
      if (fresh > 0 || !check.checked) context.updatePoint(point.id, { host: hostOf(check) })
    })
  }

  /** This host goes: what is still on its way to it is the next one's to find. */
  letGo(): void {
    this.#over = true
  }

  /** Stops watching. */
  async release(): Promise<void> {
    this.#context.host = null
    await this.#context.hostFolders.release(this.#context.id)
  }

  /** Of a session whose files are no longer held. */
  async forget(): Promise<void> {
    this.#context.host = null
    await this.#context.hostFolders.forget(this.#context.id)
  }

  #tell(report: HostReport): void {
    const context = this.#context
    if (this.#over || !isLive(context.row) || JSON.stringify(report) === JSON.stringify(context.host)) return
    context.host = report
    context.transaction(() => context.raiseSummary())
  }
}

const hostOf = ({ checked, fresh }: HostCheck): Point['host'] => ({ checked, changed: fresh })
