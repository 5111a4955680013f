/** Two pictures, pixel against pixel. */

export interface Pixels {
  data: Uint8ClampedArray<ArrayBuffer>
  width: number
  height: number
}

/** Under this a pixel differs by what an encoder does, which nobody sees; 0 to 255. */
const SEEN = 2
/** What is the same stays in view, pale. */
const PALE = 0.2

/**
 * What differs in a strong colour, over what is the same in pale grey; both pictures lie at the top left corner.
 * @param mark its red, green and blue
 */
export function differencePixels(
  before: Pixels,
  after: Pixels,
  mark: readonly [number, number, number],
): Pixels & { differing: number } {
  const width = Math.max(before.width, after.width)
  const height = Math.max(before.height, after.height)
  const data = new Uint8ClampedArray(width * height * 4)
  let differing = 0
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const to = (y * width + x) * 4
      const a = x < before.width && y < before.height ? (y * before.width + x) * 4 : -1
      const b = x < after.width && y < after.height ? (y * after.width + x) * 4 : -1
      if (a < 0 && b < 0) continue
      if (a < 0 || b < 0 || differ(before.data, a, after.data, b)) {
        differing++
        for (let part = 0; part < 3; part++) data[to + part] = mark[part] ?? 0
        data[to + 3] = 255
        continue
      }
      const [red = 0, green = 0, blue = 0, alpha = 0] = after.data.subarray(b, b + 4)
      const grey = red * 0.3 + green * 0.59 + blue * 0.11
      for (let part = 0; part < 3; part++) data[to + part] = grey
      data[to + 3] = alpha * PALE
    }
  return { data, width, height, differing }
}

/** As seen: colours under full transparency are none. */
function differ(a: Uint8ClampedArray, atA: number, b: Uint8ClampedArray, atB: number): boolean {
  const [alphaA = 0, alphaB = 0] = [a[atA + 3], b[atB + 3]]
  if (Math.abs(alphaA - alphaB) > SEEN) return true
  for (let part = 0; part < 3; part++) {
    const [one = 0, other = 0] = [a[atA + part], b[atB + part]]
    if (Math.abs(one * alphaA - other * alphaB) > SEEN * 255) return true
  }
  return false
}
