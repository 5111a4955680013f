/** Sessions with many points: whether the last ones cost as the first ones did, and whether pruned ones are really gone. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '../src-main/session/index.ts'
import { type Figure, figureOf, paced, timed } from './measure.ts'

export interface Line {
  /** One right after another, with all that is done in the background meanwhile. */
  first: Figure
  last: Figure
  /** At its end, with pauses, as an agent works: one more point, and going back to points anywhere on the line. */
  checkpoint: Figure
  rollback: Figure
  /** What the second half takes on disk, over what the first half took. */
  growth: number
}

/** Bytes on disk of a session's layers, as `du` counts them. */
function diskOf(home: string, session: Session): number {
  const folders = ['w', 'm'].map((name) => join(home, 'sandboxes', session.id, name))
  return (
    Number.parseInt(
      execFileSync('du', ['-sck', ...folders], { encoding: 'utf8' })
        .split('\n')
        .at(-2) ?? '',
      10,
    ) * 1024
  )
}

const write = (session: Session, path: string, content: string) =>
  session.write({ path, content, encoding: 'utf-8', tool: null })

const save = (session: Session, label: string) =>
  session.checkpoint({ label, why: null, messages: null, takenBy: 'you' })

/** @param count points; each changes a file and makes another */
export async function measureLine(session: Session, count: number, home: string): Promise<Line> {
  const samples: number[] = []
  const disk: number[] = []
  const ids: string[] = []
  for (let point = 1; point <= count; point++) {
    await write(session, 'counter', String(point))
    await write(session, `d${point % 50}/f${point}`, 'x'.repeat(200))
    samples.push(await timed(async () => ids.push((await save(session, `p${point}`)).id)))
    if (point === count / 2 || point === count) disk.push(diskOf(home, session))
  }
  const share = Math.min(100, Math.floor(count / 3))
  const [half = 0, whole = 0] = disk
  return {
    first: figureOf(samples.slice(0, share)),
    last: figureOf(samples.slice(-share)),
    checkpoint: await paced(40, async (run) => {
      await write(session, 'counter', `more ${run}`)
      return () => save(session, `m${run}`)
    }),
    rollback: await paced(20, async (run) => {
      await write(session, 'counter', `changed ${run}`)
      const to = ids[(run * 7919) % count] ?? ''
      return () => session.rollback({ to, only: null, patchNotes: null })
    }),
    growth: (whole - half) / half,
  }
}

/** Every tenth of `count` points is kept. @returns disk after pruning the others, over that of a session without them */
export async function measurePruning(
  begin: (name: string) => Promise<Session>,
  count: number,
  home: string,
): Promise<number> {
  const pruned = await begin('pruned')
  const spare = await begin('spare')
  for (let point = 1; point <= count; point++) {
    for (const session of [pruned, spare]) {
      await write(session, `d${point % 5}/f${point % 20}`, `${point} `.repeat(20_000))
      if (session === pruned || point % 10 === 0) await save(session, `p${point}`)
    }
  }
  const gone = Array.from({ length: count }, (_, at) => at + 1).filter((point) => point % 10 !== 0)
  await pruned.prune({ points: gone.map((point) => `p${point}`), keep: null })
  // What is made short in the background counts too.
  await sleep(1_500)
  return diskOf(home, pruned) / diskOf(home, spare)
}
