import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Decoder, encode } from './frames.ts'

/** What arrives where a stream is cut into pieces of these lengths. */
function sent(messages: readonly unknown[], cuts: readonly number[]): unknown[] {
  const arrived: unknown[] = []
  const decoder = new Decoder((message) => arrived.push(message))
  let rest = Buffer.concat(messages.map(encode))
  for (const cut of cuts) {
    decoder.push(rest.subarray(0, cut))
    rest = rest.subarray(cut)
  }
  decoder.push(rest)
  return arrived
}

test('what is sent arrives, however the stream is cut', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, 0, -1.5, 2 ** 53),
      fc.string({ unit: 'binary' }),
      bytes,
      fc.date({ noInvalidDate: true }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.string().filter((key) => key !== '__proto__'),
        tie('value'),
        { maxKeys: 4, noNullPrototype: true },
      ),
      fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
    ),
  })).value
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), fc.array(fc.nat({ max: 40 })), (messages, cuts) => {
      expect(sent(messages, cuts)).toEqual(messages)
    }),
  )
})

test('what is no frame is noticed', () => {
  expect(() => new Decoder(() => {}).push(Buffer.from('bash: node: command not found'))).toThrow(/frames/)
})
