/** Every format held against the same rules: what is cut anywhere comes back valid, and loses nothing that it could keep. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Message, type StoredFormat, storedFormats } from '../contract/index.ts'
import { isCueText } from './cue.ts'
import {
  convertMessages,
  isCue,
  judgeMessages,
  repairHistory,
  rewindHistory,
  validateHistory,
  withCue,
} from './index.ts'
import { cancelledText } from './pieces.ts'
import { marksIn, marksToKeep, type Step, story, writtenIn } from './stories.fixture.ts'

/** REWIND_SEED runs them again as they ran; a failing one prints its own. */
const seed = Number(process.env.REWIND_SEED ?? Date.now() % 1_000_000)
const runs = { seed, numRuns: 200 }
console.log(`formats.test.ts: REWIND_SEED=${seed}`)

const cutStory = fc.tuple(story, fc.nat())

const cut = (format: StoredFormat, steps: Step[], at: number) => {
  const written = writtenIn(format, steps)
  return written.slice(0, at % (written.length + 1))
}
/** Whether a format has a place for reasoning that was signed for the other's provider. */
function canShow(format: StoredFormat, other: StoredFormat): boolean {
  if (other === 'openai') return false
  return (
    other === 'langchain' || other === 'vercel' || (format === 'openai-responses') === (other === 'openai-responses')
  )
}

const rewind = (format: StoredFormat, snapshot: readonly Message[], notes: string | null = 'it broke') =>
  rewindHistory({ snapshot, label: 'stable', patchNotes: notes }, format)

describe.each(storedFormats)('histories in the format %s', (format) => {
  it('are whole in themselves: valid, and left alone, the same objects', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const messages = writtenIn(format, steps)
        expect(validateHistory(messages, format)).toEqual([])
        const { messages: repaired, repairs } = repairHistory(messages, format)
        expect(repairs).toEqual([])
        expect(repaired.length).toBe(messages.length)
        for (const [index, message] of repaired.entries()) expect(message).toBe(messages[index])
      }),
      runs,
    )
  })

  it('are known for what they are, and come in as they are', () => {
    fc.assert(
      fc.property(story, (steps) => {
        const messages = writtenIn(format, steps)
        const before = JSON.stringify(messages)
        const judged = judgeMessages(messages, { wanted: format })
        expect(judged.messages).toBe(messages)
        expect(JSON.stringify(judged.messages)).toBe(before)
        const found = judgeMessages(messages).format
        expect(judgeMessages(messages).format).toBe(found)
        expect(judgeMessages(messages, { before: format, known: messages.length }).format).toBe(format)
        // Words alone are written alike in several; with a call in it there is no doubt.
        if (steps.some(({ kind }) => kind === 'turn') && format !== 'langchain') expect(found).toBe(format)
      }),
      runs,
    )
  })

  it('cut anywhere, are taken by the provider again', () => {
    fc.assert(
      fc.property(cutStory, ([steps, at]) => {
        expect(validateHistory(rewind(format, cut(format, steps, at)).messages, format)).toEqual([])
      }),
      runs,
    )
  })

  it('cut anywhere, keep what they can and hold nothing else', () => {
    fc.assert(
      fc.property(cutStory, ([steps, at]) => {
        const snapshot = cut(format, steps, at)
        const { messages } = rewind(format, snapshot)
        expect([...marksIn(messages)].sort()).toEqual([...marksToKeep(steps, marksIn(snapshot))].sort())
      }),
      runs,
    )
  })

  it('cut anywhere, are given marked results for the calls of a turn that is answered in part, and for no others', () => {
    fc.assert(
      fc.property(cutStory, ([steps, at]) => {
        const snapshot = cut(format, steps, at)
        const held = marksIn(snapshot)
        const missing = steps.flatMap((step, index) => {
          const next = steps[index + 1]
          if (step.kind !== 'turn' || next?.kind !== 'results') return []
          const answered = next.of.filter(({ mark }) => held.has(mark)).length
          return answered === 0 ? [] : Array.from({ length: step.calls.length - answered })
        })
        const text = JSON.stringify(rewind(format, snapshot).messages)
        expect(text.split(cancelledText).length - 1).toBe(missing.length)
      }),
      runs,
    )
  })

  it('with results of nothing and late results among them, are mended', () => {
    fc.assert(
      fc.property(story, fc.nat(), fc.nat(), (steps, from, to) => {
        const written = writtenIn(format, steps)
        const moved = written.splice(from % written.length, 1)
        written.splice(1 + (to % Math.max(1, written.length)), 0, ...moved)
        expect(validateHistory(rewind(format, written).messages, format)).toEqual([])
      }),
      runs,
    )
  })

  it('end in one cue, however often they were rewound, and are the same but for it', () => {
    fc.assert(
      fc.property(cutStory, ([steps, at]) => {
        const once = rewind(format, cut(format, steps, at))
        const twice = rewind(format, once.messages, 'again')
        expect(twice.repairs).toEqual([])
        expect(twice.messages.filter((message) => isCue(message, format))).toHaveLength(1)
        expect(JSON.stringify(twice.messages).match(/\[REWIND\]/g)).toHaveLength(1)
        expect(JSON.stringify(twice.messages)).toContain('Patch notes: again')
        expect(once.cue).toBe(once.messages.length - 1)
        expect(rewind(format, once.messages)).toEqual({ ...once, repairs: [] })
      }),
      runs,
    )
  })

  it('say each repair', () => {
    fc.assert(
      fc.property(cutStory, ([steps, at]) => {
        const snapshot = cut(format, steps, at)
        const { repairs, messages } = rewind(format, snapshot)
        const added = JSON.stringify(messages).split(cancelledText).length - 1
        expect(repairs.filter(({ kind }) => kind === 'added-result')).toHaveLength(added)
        expect(repairs.some(({ kind }) => kind.startsWith('dropped'))).toBe(
          marksIn(messages).size < marksIn(snapshot).size,
        )
      }),
      runs,
    )
  })

  describe.each(storedFormats.filter((other) => other !== format))('converted to %s', (other) => {
    it('are valid there, and nothing is lost without a note', () => {
      fc.assert(
        fc.property(cutStory, ([steps, at]) => {
          const source = rewind(format, cut(format, steps, at)).messages
          const { messages, notes } = convertMessages(source, { from: format, to: other })
          expect(validateHistory(messages, other)).toEqual([])
          expect(messages.filter((message) => isCue(message, other))).toHaveLength(1)
          const thoughts = new Set(steps.flatMap((step) => ('thought' in step && step.thought ? [step.thought] : [])))
          const expected = marksIn(source)
          if (!canShow(format, other)) for (const thought of thoughts) expected.delete(thought)
          expect([...marksIn(messages)].sort()).toEqual([...expected].sort())
          // Signed reasoning is kept where it can be shown again; that a result was made up, where there is a word for it.
          const sealed = (list: Message[]) => JSON.stringify(list).includes('sealed mark-')
          const cancelled = JSON.stringify(source).includes(cancelledText)
          if (sealed(source) && !canShow(format, other)) expect(notes.length).toBeGreaterThan(0)
          if (!sealed(source) && !cancelled) expect(notes).toEqual([])
        }),
        { ...runs, numRuns: 60 },
      )
    })

    it('and back, say the same', () => {
      fc.assert(
        fc.property(story, (steps) => {
          // What both can write: reasoning is signed for one provider alone.
          const plain = steps.map((step) => ('thought' in step ? { ...step, thought: null } : step))
          const source = writtenIn(format, plain)
          const there = convertMessages(source, { from: format, to: other })
          const back = convertMessages(there.messages, { from: other, to: format })
          expect([...there.notes, ...back.notes]).toEqual([])
          // Once written by this code, it comes back to the letter.
          const again = convertMessages(back.messages, { from: format, to: other })
          expect(again.messages).toEqual(there.messages)
        }),
        { ...runs, numRuns: 60 },
      )
    })
  })
})

describe('the cue of Anthropic', () => {
  const cue = '[REWIND] Environment and conversation were taken back to the checkpoint "a".\nGo on from there.'
  const text = (words: string) => ({ type: 'text', text: words })

  it('is a block of the user turn that is last, after its results', () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'run', input: {} }] }
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content: 'ok' }] }
    const user = { role: 'user', content: 'hi' }
    expect(withCue([user], cue, 'anthropic')).toEqual([{ role: 'user', content: [text('hi'), text(cue)] }])
    expect(withCue([user, call, result], cue, 'anthropic').at(-1)).toEqual({
      role: 'user',
      content: [...result.content, text(cue)],
    })
    // Where results are still to come it goes before the call.
    expect(withCue([user, call], cue, 'anthropic')).toEqual([{ role: 'user', content: [text('hi'), text(cue)] }, call])
    expect(withCue([user, { role: 'assistant', content: 'done' }], cue, 'anthropic').at(-1)).toEqual({
      role: 'user',
      content: [text(cue)],
    })
    expect(withCue([], cue, 'anthropic')).toEqual([{ role: 'user', content: [text(cue)] }])
  })

  it('is not taken for a person who writes its mark', () => {
    const person = { role: 'user', content: '[REWIND] button does nothing' }
    expect(isCueText(person.content)).toBe(false)
    expect(rewindHistory({ snapshot: [person], label: 'a', patchNotes: null }, 'anthropic').messages).toHaveLength(1)
    expect(JSON.stringify(withCue([person], cue, 'anthropic'))).toContain('button does nothing')
  })
})
