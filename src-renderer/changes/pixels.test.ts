import { expect, it } from 'vitest'
import { differencePixels, type Pixels } from './pixels.ts'

const RED = [255, 0, 0] as const
const picture = (width: number, ...pixels: number[][]): Pixels => ({
  data: Uint8ClampedArray.from(pixels.flat()),
  width,
  height: pixels.length / width,
})
const [WHITE, BLACK, CLEAR] = [
  [255, 255, 255, 255],
  [0, 0, 0, 255],
  [9, 9, 9, 0],
]

it('marks what differs and leaves the rest pale', () => {
  const found = differencePixels(picture(2, WHITE, BLACK), picture(2, WHITE, WHITE), RED)
  expect(found.differing).toBe(1)
  expect([...found.data]).toEqual([255, 255, 255, 51, 255, 0, 0, 255])
})

it('takes what cannot be seen for the same', () => {
  const pairs = [
    [CLEAR, [200, 0, 0, 0]],
    [WHITE, [254, 255, 253, 255]],
  ]
  for (const [a = [], b = []] of pairs) expect(differencePixels(picture(1, a), picture(1, b), RED).differing).toBe(0)
})

it('counts what only one of them covers, and nothing that neither does', () => {
  const wide = picture(2, WHITE, WHITE)
  const tall = picture(1, WHITE, WHITE, WHITE)
  const found = differencePixels(wide, tall, RED)
  expect([found.width, found.height, found.differing]).toEqual([2, 3, 3])
  expect(found.data[7]).toBe(255)
  expect(found.data[15]).toBe(0)
})
