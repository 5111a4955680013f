/**
 * Random programs of edits in the sandbox and on the host, checkpoints, rewinds, commits and their undoing, with another
 * session on the same folder. After each step: a commit has the host be what the sandbox is, or what it was; the other
 * session sees what it saw; and in the end every point is what it was when it was taken.
 */
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { type ChosenHunks, type ChosenPath, CommitConflictError } from '../contract/index.ts'
import type { Session } from './index.ts'
import { checkpoint, rollback, run, testHome } from './testing.ts'

/** One again, or more: REWIND_COMMIT_SEED=17, REWIND_COMMIT_SEEDS=50. */
const FIRST_SEED = Number(process.env.REWIND_COMMIT_SEED ?? 1)
const SEEDS = Number(process.env.REWIND_COMMIT_SEEDS ?? (process.env.REWIND_COMMIT_SEED === undefined ? 4 : 1))
const STEPS = 14

const LISTING = "find . ! -name . -printf '%P %y %m %l\\n' -type f -exec md5sum {} \\; | sort | base64 -w0"
/** Without setuid and setgid, which are never carried over. */
const decoded = (text: string): string => Buffer.from(text, 'base64').toString('latin1')

/** https://en.wikipedia.org/wiki/Linear_congruential_generator, as in Numerical Recipes. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const NAMES = ['a', 'b', 'a-b', "o'dd \\n"]

/** A line of sh that changes something, or fails. */
function edit(next: (below: number) => number): string {
  const name = () => NAMES[next(NAMES.length)] ?? 'a'
  const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`
  const path = () => quoted(Array.from({ length: 1 + next(3) }, name).join('/'))
  const edits = [
    // A pipe would wait for its reader.
    () => `f=${path()}; [ -p "$f" ] || echo ${next(1000)} >"$f"`,
    () => `f=${path()}; [ -p "$f" ] || echo ${next(1000)} >>"$f"`,
    () => `mkdir -p ${path()}`,
    () => `rm -rf ${path()}`,
    () => `mv -T ${path()} ${path()}`,
    () => `ln -sfn ${quoted(name())} ${path()}`,
    () => `f=${path()}; [ -f "$f" ] && chmod ${['644', '755', '600'][next(3)]} "$f"`,
    () => `f=${path()}; [ -d "$f" ] && chmod ${['700', '755', '750'][next(3)]} "$f"`,
    () => `mkfifo ${path()}`,
    () => `cp -a --remove-destination ${path()} ${path()}`,
  ]
  return `${edits[next(edits.length)]?.()} 2>/dev/null || :`
}

const script = (next: (below: number) => number, lines: number): string =>
  Array.from({ length: lines }, () => edit(next)).join('\n')

const bytesOf = ({ path, rawPath }: ChosenPath): string => rawPath ?? path

/** Of some of the files that have them. */
async function someHunks(session: Session, next: (below: number) => number): Promise<ChosenHunks[]> {
  const { entries } = await session.commits.preview({ paths: null })
  const chosen: ChosenHunks[] = []
  for (const { path, rawPath } of entries) {
    const found = await session.commits.hunks({ path, rawPath })
    if (found.kind !== 'hunks' || next(4) === 0) continue
    chosen.push({
      path,
      rawPath,
      take: found.stretches.flatMap(({ id }) => (id !== null && next(2) === 0 ? [id] : [])),
    })
  }
  return chosen
}

/** The file of which lines are edited, one here and one there. */
const editLines = (next: (below: number) => number): string =>
  [1, 2].map(() => `sed -i '${1 + next(20)}s/$/${next(10)}/' lines`).join('\n')

suiteNeeding(['local'], 'random programs with commits', () => {
  const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at)

  test.each(seeds)('seed %i', { timeout: 240_000 }, async (seed) => {
    const next = numbers(seed)
    const place = testHome()
    const { manager, close } = await place.open()
    const story: string[] = []
    const onHost = (text: string) =>
      execFileSync('sh', ['-c', text], { cwd: place.workspace, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const own = () => {
      if (process.getuid?.() === 0) execFileSync('chown', ['-hR', '1000:1000', place.workspace])
    }
    const hostTree = () => decoded(onHost(LISTING))
    const seen = async (session: Session) => decoded((await run(session, LISTING)).stdout)
    const begin = async (name: string, base: 'copy' | 'live') => {
      const options = { name, workspace: place.workspace, explicit: true, create: false, force: false, env: {} }
      const { session } = await manager.create({
        ...options,
        engine: 'local',
        mode: 'interactive',
        base,
        network: false,
      })
      return manager.find(session.id)
    }
    try {
      onHost(`${script(next, 12)}\nseq 20 >lines`)
      own()
      // What was written in the same millisecond counts as written since.
      await sleep(10)
      // What a person edits shows through a live base by design: there the host is left alone.
      const base = seed % 2 === 0 ? 'copy' : 'live'
      const session = await begin('work', base)
      const beside = await begin('beside', base)
      await session.commits.preview({ paths: null })
      const besideSees = await seen(beside)
      const points = new Map<string, string>()
      let hostEdited = false
      for (let step = 1; step <= STEPS; step++) {
        const kind = next(10)
        if (kind < 4) {
          const text = `${script(next, 1 + next(6))}\n${editLines(next)}`
          story.push(`sandbox: ${text}`)
          await run(session, text)
        } else if (kind === 4 && base === 'copy') {
          const text = script(next, 1 + next(3))
          story.push(`host: ${text}`)
          onHost(text)
          own()
          hostEdited = true
        } else if (kind === 5) {
          const label = `p${step}`
          story.push(`checkpoint ${label}`)
          points.set(label, await seen(session))
          await checkpoint(session, label)
        } else if (kind === 6 && points.size > 0) {
          const labels = [...points.keys()].filter((label) =>
            session.timeline().points.some((point) => point.label === label),
          )
          const label = labels[next(labels.length)] ?? 'base'
          const target = session.timeline().points.find((point) => point.label === label)?.id ?? 'base'
          story.push(`rewind to ${label}`)
          await rollback(session, target)
          if (points.has(label)) expect(await seen(session), `rewound to ${label}`).toBe(points.get(label))
        } else if (kind === 7 && session.commits.standing !== null && !hostEdited) {
          story.push('undo of a commit')
          await session.commits.undo({ id: null, force: false }, 'you')
        } else {
          const hunks = next(2) === 0 ? await someHunks(session, next) : []
          const how = { paths: null, hunks, force: next(3) === 0, skipConflicts: next(3) === 0 }
          story.push(`commit ${JSON.stringify(how)}`)
          const before = hostTree()
          try {
            const result = await session.commits.apply(how, 'you')
            const isAll = result.skipped.length === 0 && hunks.length === 0
            if (!hostEdited && isAll) expect(hostTree(), 'committed').toBe(await seen(session))
            if (result.status === 'committed' && next(2) === 0) {
              const after = hostTree()
              story.push('and its undo, and again')
              await session.commits.undo({ id: null, force: false }, 'you')
              expect(hostTree(), 'undone').toBe(before)
              await session.commits.apply(how, 'you')
              expect(hostTree(), 'committed again').toBe(after)
            }
            // What is left is what was skipped, and nothing else.
            const left = await session.commits.preview({ paths: null })
            if (isAll) expect(left.entries, 'left').toEqual([])
            else if (result.status === 'committed' && hunks.length > 0 && result.skipped.length === 0)
              expect(left.entries.map(bytesOf), 'left of hunks').toEqual(
                expect.arrayContaining(result.written.filter(({ part }) => part).map(bytesOf)),
              )
          } catch (error) {
            if (!(error instanceof CommitConflictError)) throw error
            story.push(`  refused: ${error.message}`)
            expect(hostEdited, 'conflicts come from the host').toBe(true)
            expect(hostTree(), 'refused').toBe(before)
          }
        }
        expect(await seen(beside), 'beside').toBe(besideSees)
      }
      for (const [label, tree] of points) {
        const point = session.timeline().points.find((one) => one.label === label)
        if (!point) continue
        await rollback(session, point.id)
        expect(await seen(session), label).toBe(tree)
      }
      expect(session.verifyLedger().whole).toBe(true)
    } catch (error) {
      throw new Error(`again with REWIND_COMMIT_SEED=${seed}\n${story.join('\n')}\n${(error as Error).message}`, {
        cause: error,
      })
    } finally {
      await close()
      await place.remove()
    }
  })
})
