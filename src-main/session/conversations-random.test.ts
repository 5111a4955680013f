/**
 * Main and sub-agents' conversations, each in a format of its own, cut anywhere, through random points, rewinds and undos:
 * held against a model that knows what was said and nothing of how it is written or repaired.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type StoredFormat, storedFormats } from '../contract/index.ts'
import { marksIn, marksToKeep, type Step, story, writtenIn } from '../memory/stories.fixture.ts'
import type { SessionManager } from './index.ts'
import { begin, checkpoint, rollback, testHome, write } from './testing.ts'

const place = testHome()
let manager: SessionManager
let close: () => Promise<void>

beforeAll(async () => {
  ;({ manager, close } = await place.open())
})
afterAll(async () => {
  await close()
  await place.remove()
})

/** What a conversation holds: what was said, and the marks of what is still there. */
interface Told {
  steps: Step[]
  held: Set<string>
}
type Talk = Map<string, Told>

const keys = ['main', 'reviewer', 'tester'] as const
const empty: Told = { steps: [], held: new Set() }

const operations = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('say' as const), key: fc.nat(2), steps: story, cut: fc.nat() }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('save' as const) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('rewind' as const), to: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const) }) },
  ),
  { minLength: 24, maxLength: 24 },
)

const seed = Number(process.env.REWIND_SEED ?? Date.now() % 1_000_000)

test(`whatever is said, saved, rewound and undone (REWIND_SEED=${seed})`, { timeout: 300_000 }, async () => {
  console.log(`conversations-random.test.ts: REWIND_SEED=${seed}`)
  for (const [round, ops] of fc.sample(operations, { seed, numRuns: 3 }).entries()) {
    const workspace = join(place.folder, `random-${round}`)
    mkdirSync(workspace)
    const session = await begin(manager, workspace, `random-${round}`)
    const formatOf = (key: number): StoredFormat => storedFormats[(key + round) % storedFormats.length] ?? 'openai'
    const textsNow = () =>
      keys.map((key) => JSON.stringify(session.conversation({ at: 'now', conversation: key }).messages))

    let now: Talk = new Map()
    /** By label; a rewind takes those that it leaves out of reach. */
    const points = new Map<string, { talk: Talk; texts: string[] }>([['base', { talk: new Map(), texts: [] }]])
    let before: { talk: Talk; texts: string[] } | null = null

    for (const [index, op] of ops.entries()) {
      await write(session, 'counter.txt', String(index))
      switch (op.kind) {
        case 'say': {
          // Marks of one telling are found in no other.
          const steps = JSON.parse(JSON.stringify(op.steps).replaceAll('mark-', `mark-${index + 1}000`)) as Step[]
          const format = formatOf(op.key)
          const written = writtenIn(format, steps)
          const messages = written.slice(0, op.cut % (written.length + 1))
          const key = keys[op.key] ?? 'main'
          await session.sync({ messages, conversation: key, format, revision: null })
          now = new Map(now).set(key, { steps, held: marksIn(messages) })
          break
        }
        case 'save': {
          const label = `point ${index}`
          const texts = textsNow()
          await checkpoint(session, label)
          points.set(label, { talk: now, texts })
          break
        }
        case 'rewind': {
          const labels = ['base', ...session.timeline().points.flatMap(({ label }) => (label === null ? [] : [label]))]
          const line = new Set((await session.details()).labels)
          const reachable = labels.filter((label) => label === 'base' || line.has(label))
          const label = reachable[op.to % reachable.length] ?? 'base'
          before = { talk: now, texts: textsNow() }
          await rollback(session, label)
          const then = points.get(label)?.talk ?? new Map<string, Told>()
          now = new Map(
            keys.map((key) => {
              const told = then.get(key) ?? empty
              return [key, { steps: told.steps, held: marksToKeep(told.steps, told.held) }]
            }),
          )
          for (const key of keys) {
            const { messages, problems } = session.conversation({ at: 'now', conversation: key })
            expect([...marksIn(messages)].sort(), `${key} at ${index}`).toEqual([...(now.get(key)?.held ?? [])].sort())
            expect(problems).toEqual([])
          }
          break
        }
        case 'undo':
          if (!before) break
          {
            const left = { talk: now, texts: textsNow() }
            await session.undo()
            expect(textsNow()).toEqual(before.texts)
            now = before.talk
            before = left
          }
          break
      }
      // Nothing that is done later changes what a point holds.
      for (const [label, { texts }] of points)
        if (texts.length > 0 && (await session.details()).labels.includes(label))
          expect(
            keys.map((key) => JSON.stringify(session.conversation({ at: label, conversation: key }).messages)),
            label,
          ).toEqual(texts)
    }
    await session.destroy()
  }
})
