/** What becomes of a session when the block that it was begun for is over. */
import type { FileCounts } from '../contract/index.ts'
import { isLive } from '../contract/timeline.ts'
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

/** Ends the session, or keeps it where it is halted, or holds work that was to be taken home. */
export async function conclude(
  { line, notices, session, name, autoCommit, destroyOnExit }: Ending,
  how: BlockEnd,
): Promise<void> {
  await line.call(async (rpc) => {
    const { status } = await rpc.sessions.get({ session })
    if (status === 'halted' || !isLive({ status })) return
    const changed = how === 'failed' ? 0 : total((await rpc.files.changes({ session, from: 'base', limit: 1 })).counts)
    const keeps = autoCommit && how === 'clean' && changed > 0
    if (destroyOnExit && !keeps) await rpc.sessions.end({ session })
    if (changed === 0) return
    const files = changed === 1 ? '1 file differs' : `${changed} files differ`
    const patch = `\`rewind diff base --patch --session ${session}\` prints them, for \`git apply\``
    if (keeps)
      notices.warn(
        'REWIND_KEPT',
        `Session ${name} is kept: ${files} from the workspace, and this version cannot write to it yet. ${patch}.`,
      )
    else if (autoCommit)
      notices.warn(
        'REWIND_NOT_COMMITTED',
        `Nothing of session ${name} was written to the workspace, as complete() was not called: ${files}. ${patch}.`,
      )
    else
      notices.warn(
        'REWIND_NOT_COMMITTED',
        `Nothing of session ${name} was written to the workspace, as autoCommit is off: ${files}. ${patch}.`,
      )
  })
}

const total = ({ added, modified, deleted }: FileCounts): number => added + modified + deleted
