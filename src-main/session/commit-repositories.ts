/**
 * Repositories that were changed on the host and in the sandbox: the host's stays as it is, and the sandbox's commits are
 * fetched into it under names of their own. Git runs in the sandbox with an agent's rights, and hands over a bundle.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fetchBundle } from '../commit/index.ts'
import { type ByteString, readableBytes, type Sandbox, toBytes } from '../sandbox/index.ts'
import type { SessionContext } from './context.ts'

const BUNDLE_TIMEOUT_MS = 5 * 60_000

export interface Fetched {
  /** Names that the sandbox's branches have in the host's repository. */
  refs: string[]
  /** Why some could not be had. */
  warnings: string[]
}

/** @param units folders named .git, relative to the workspace. Never throws: the files are on the host by then */
export async function fetchRepositories(
  context: SessionContext,
  sandbox: Sandbox,
  units: readonly ByteString[],
): Promise<Fetched> {
  const fetched: Fetched = { refs: [], warnings: [] }
  for (const unit of units) {
    const folder = dirname(readableBytes(toBytes(unit)))
    try {
      fetched.refs.push(...(await fetchOne(context, sandbox, folder)))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      fetched.warnings.push(
        `The commits of ${readableBytes(toBytes(unit))} could not be fetched from the sandbox: ${why}`,
      )
    }
  }
  return fetched
}

async function fetchOne(context: SessionContext, sandbox: Sandbox, folder: string): Promise<string[]> {
  const { name, workspace } = context.row
  const home = join(context.home, 'commits')
  await mkdir(home, { recursive: true, mode: 0o700 })
  const scratch = await mkdtemp(join(home, 'bundle-'))
  const [stdout, stderr] = [join(scratch, 'bundle'), join(scratch, 'stderr')]
  try {
    const command = await sandbox.exec({
      id: `bundle-${randomUUID()}`,
      command: ['git', 'bundle', 'create', '--quiet', '-', '--all', 'HEAD'],
      cwd: join(context.row.workspaceInside, folder),
      timeoutMs: BUNDLE_TIMEOUT_MS,
    })
    const { status, code } = await command.ended
    await command.collect({ stdout, stderr })
    if (status !== 'exited' || code !== 0) throw new Error(`git in the sandbox ended with ${code ?? status}`)
    const { refs } = await fetchBundle({ workspace: join(workspace, folder), bundle: stdout, session: name })
    return refs.map(({ ref }) => ref)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
