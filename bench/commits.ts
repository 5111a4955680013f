/** Commits to the host: a few changes among many files, many changes beside what `cp -a` needs for them, and large files. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '../src-main/session/index.ts'
import { type Figure, figureOf, timed } from './measure.ts'

export interface CommitFigures {
  /** 100 changes. */
  few: Figure
  /** Every file of the workspace. */
  all: Figure
  /** `cp -a` of the same files. */
  copy: Figure
  /** Bytes that the process grew by while a file of {@link LARGE_BYTES} was committed. */
  growth: number
}

const CHANGES = 100
const LARGE_BYTES = 400 << 20
const SAMPLE_MS = 5

const everything = { paths: null, force: false, skipConflicts: false }

/**
 * @param session over a workspace of `files` files, as the bench makes them
 * @param run a command in it
 */
export async function measureCommits(
  session: Session,
  { files, workspace, scratch, rounds }: { files: number; workspace: string; scratch: string; rounds: number },
  run: (session: Session, command: string[]) => Promise<void>,
): Promise<CommitFigures> {
  const few: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < CHANGES; n++) {
      const file = (n * 977 + round * 31) % files
      await session.write({ path: `d${file % 100}/f${file}`, content: `${round}`, encoding: 'utf-8', tool: null })
    }
    few.push(await timed(() => session.commits.apply(everything, 'you')))
  }

  const all: number[] = []
  const copy: number[] = []
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    await run(session, ['sh', '-c', `for d in d*; do for f in $d/*; do echo ${round} >>$f; done; done`])
    all.push(await timed(() => session.commits.apply(everything, 'you')))
    const copied = join(scratch, 'copied')
    copy.push(await timed(() => execFileSync('cp', ['-a', workspace, copied])))
    rmSync(copied, { recursive: true })
  }

  await run(session, ['sh', '-c', `head -c ${LARGE_BYTES} /dev/zero >large`])
  const before = process.memoryUsage().rss
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, SAMPLE_MS)
  await session.commits.apply(everything, 'you')
  clearInterval(sampling)
  return { few: figureOf(few), all: figureOf(all), copy: figureOf(copy), growth: most - before }
}
