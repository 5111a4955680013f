/** What becomes of a session when the block that it was begun for is over. */
import type { FileCounts } from '../contract/index.ts'
import { isLive } from '../contract/timeline.ts'
import type { Rpc } from '../serve/client/index.ts'
import type { HostLine } from './host-line.ts'
import type { Notices } from './notices.ts'

/** `unsaid`: `await using` cannot tell how its block ended, and complete() was not called. */
export type BlockEnd = 'clean' | 'failed' | 'unsaid'

export interface Ending {
  line: HostLine
  notices: Notices
  session: string
  name: string
  autoCommit: boolean
  destroyOnExit: boolean
}

/**
 * Commits where that is wanted, and ends the session; one that is halted or paused is kept, and one whose commit failed.
 * @throws CommitConflictError and the like, with the session kept
 */
export async function conclude(
  { line, notices, session, name, autoCommit, destroyOnExit }: Ending,
  how: BlockEnd,
): Promise<void> {
  await line.call(async (rpc) => {
    const { status } = await rpc.sessions.get({ session })
    if (status === 'halted' || status === 'paused' || !isLive({ status })) return
    const commits = autoCommit && how === 'clean'
    if (commits) await rpc.commit.apply({ session })
    const left = how === 'failed' || commits ? 0 : await uncommitted(rpc, session)
    if (destroyOnExit) await rpc.sessions.end({ session })
    if (left === 0) return
    const files = left === 1 ? '1 file differs' : `${left} files differ`
    const why = autoCommit ? 'as complete() was not called' : 'as autoCommit is off'
    notices.warn(
      'REWIND_NOT_COMMITTED',
      `Changes of session ${name} were not written to the workspace, ${why}: ${files}. \`rewind commit --session ${session}\` writes them, and \`rewind diff base --patch --session ${session}\` prints them.`,
    )
  })
}

/** Entries that the host lacks, also what an earlier commit left out. */
async function uncommitted(rpc: Rpc, session: string): Promise<number> {
  try {
    return total((await rpc.commit.preview({ session })).counts)
  } catch {
    // The workspace is not there, say: what was changed since the last commit is known all the same.
  }
  const last = (await rpc.commit.list({ session })).findLast(({ undoneAt }) => undoneAt === null)
  return total((await rpc.files.changes({ session, from: last?.point ?? 'base', limit: 1 })).counts)
}

const total = ({ added, modified, deleted }: FileCounts): number => added + modified + deleted
