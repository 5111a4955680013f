import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { World } from '../conformance/world.ts'
import { localSource } from './for-tests.ts'
import { Program } from './random/program.ts'

/** One again: REWIND_PROGRAM_SEED=17. For that long instead of a few: REWIND_PROGRAM_SECONDS=120 */
const FIRST_SEED = Number(process.env.REWIND_PROGRAM_SEED ?? 1)
const SECONDS = Number(process.env.REWIND_PROGRAM_SECONDS ?? 0)
const SEEDS = process.env.REWIND_PROGRAM_SEED === undefined ? 4 : 1
const STEPS = 20
/** Lines of what a failed program did. */
const STORY = 200

/** A step that never ends is a failure with a story too. */
async function within(seconds: number, step: Promise<void>): Promise<void> {
  const late = sleep(seconds * 1000, undefined, { ref: false }).then(() => {
    throw new Error(`the step was not done in ${seconds} s`)
  })
  await Promise.race([step, late])
}

async function runProgram(seed: number): Promise<void> {
  const world = await World.make(localSource)
  const program = await Program.begin(world, seed, seed % 3 === 0 ? 'live' : 'copy')
  try {
    for (let step = 1; step <= STEPS; step++) await within(60, program.step())
    await within(60, program.finish())
  } catch (error) {
    const story = program.story.split('\n').slice(-STORY).join('\n')
    throw new Error(`again with REWIND_PROGRAM_SEED=${seed}\n${story}\n${(error as Error).message}`, { cause: error })
  } finally {
    await program.end()
  }
}

suiteNeeding(['local'], 'random programs in a sandbox', () => {
  const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST_SEED + at)
  test.each(seeds)('seed %i: every point stays what it was', runProgram, 180_000)

  test.runIf(SECONDS > 0)(`new ones for ${SECONDS} s`, { timeout: SECONDS * 1000 + 180_000 }, async () => {
    const first = Math.floor(Date.now() / 1000)
    const end = Date.now() + SECONDS * 1000
    let seed = first
    for (; Date.now() < end; seed++) await runProgram(seed)
    console.log(`random programs: seeds ${first} to ${seed - 1}, ${STEPS} steps each`)
    expect(seed).toBeGreaterThan(first)
  })
})
