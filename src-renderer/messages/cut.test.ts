import { describe, expect, test } from 'vitest'
import { point } from '../fixtures/points.ts'
import { cutBy, cutMessages } from './cut.ts'

const points = [
  point('base', null, 0),
  point('stable', 'base', 1),
  point('lost', 'stable', 2),
  point('tipA', 'lost', 3, { kind: 'tip' }),
  point('again', 'stable', 4),
  point('tipB', 'again', 5, { kind: 'tip' }),
]
const timeline = { session: 's', head: 'stable', epoch: 2, undo: 'tipB', points }

describe('what a rewind cut', () => {
  test('now: the last rewind counts', () => {
    expect(cutBy(timeline, 'now')).toEqual({ tip: 'tipB', branch: 'B' })
  })

  test('a point: the last rewind that went back to it; none for a point that nobody went back to', () => {
    expect(cutBy(timeline, 'stable')).toEqual({ tip: 'tipB', branch: 'B' })
    expect(cutBy(timeline, 'base')).toBeNull()
  })

  test('only what the present history no longer holds, counting repetitions', () => {
    const say = (content: string) => ({ role: 'user', content })
    expect(cutMessages([say('a'), say('b'), say('b'), say('c')], [say('a'), say('b'), say('cue')])).toEqual([
      say('b'),
      say('c'),
    ])
  })

  test('a message of a person that the cue was added to is not cut', () => {
    const words = { role: 'user', content: 'go' }
    const withCue = {
      role: 'user',
      content: [
        { type: 'text', text: 'go' },
        { type: 'text', text: '[REWIND] Environment and conversation were taken back.' },
      ],
    }
    expect(cutMessages([{ role: 'user', content: [{ type: 'text', text: 'go' }] }], [withCue])).toEqual([])
    expect(cutMessages([words, { role: 'user', content: 'lost' }], [withCue])).toEqual([
      { role: 'user', content: 'lost' },
    ])
  })
})
