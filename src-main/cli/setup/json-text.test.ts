import fc from 'fast-check'
import { expect, test } from 'vitest'
import { removeIn, setIn } from './json-text.ts'

test.each([
  ['', '{\n  "a": {\n    "b": 1\n  }\n}\n'],
  ['{}', '{\n  "a": {\n    "b": 1\n  }\n}'],
  ['{"x":[1]}', '{"x":[1], "a": {"b":1}}'],
  ['{\n\t"x": 1 // why\n}\n', '{\n\t"x": 1, // why\n\t"a": {\n\t\t"b": 1\n\t}\n}\n'],
  ['{\r\n    "x": 1,\r\n}\r\n', '{\r\n    "x": 1,\r\n    "a": {\r\n        "b": 1\r\n    },\r\n}\r\n'],
  ['{\n  "a": { "c": 2 } /* keep */\n}', '{\n  "a": { "c": 2, "b": 1 } /* keep */\n}'],
  ['{\n  "a": {\n  }\n}', '{\n  "a": {\n    "b": 1\n  }\n}'],
  ['{\n  // mine\n}\n', '{\n  // mine\n  "a": {\n    "b": 1\n  }\n}\n'],
  ['{"a":{"b":"long"}}', '{"a":{"b":1}}'],
])('a value is put into %j', (before, after) => {
  expect(setIn(before, ['a', 'b'], 1)).toBe(after)
})

test('an item is added to a list as the others are written', () => {
  expect(setIn('{\n  "l": [\n    { "a": 1 }\n  ]\n}\n', ['l', 1], 'x')).toBe(
    '{\n  "l": [\n    { "a": 1 },\n    "x"\n  ]\n}\n',
  )
  expect(setIn('{\n  "l": [{ "a": 1 }]\n}\n', ['l', 1], { b: [2] })).toBe('{\n  "l": [{ "a": 1 }, {"b":[2]}]\n}\n')
})

test('what is put in means that and nothing else, and is taken out again', () => {
  const names = fc.constantFrom('a', 'b', 'c "d"', '')
  const objects = fc.dictionary(
    names,
    fc.oneof(
      fc.json().map((text) => JSON.parse(text)),
      fc.dictionary(names, fc.nat()),
    ),
  )
  fc.assert(
    fc.property(objects, fc.constantFrom(0, 1, 4, '\t'), fc.string(), (object, indent, value) => {
      const before = JSON.stringify(object, null, indent)
      const after = setIn(before, ['ours', 'deep'], value)
      expect(JSON.parse(after)).toEqual({ ...JSON.parse(before), ours: { deep: value } })
      expect(JSON.parse(removeIn(after, ['ours']))).toEqual(JSON.parse(before))
    }),
  )
})
