/** Compares pictures off the main thread: a photograph has some ten million pixels. */
import { differencePixels, type Pixels } from './pixels.ts'

interface Asked {
  before: ImageBitmap
  after: ImageBitmap
  mark: readonly [number, number, number]
}

self.onmessage = ({ data: { before, after, mark } }: MessageEvent<Asked>) => {
  try {
    const { data, width, height, differing } = differencePixels(pixelsOf(before), pixelsOf(after), mark)
    const canvas = draw(width, height, (context) => context.putImageData(new ImageData(data, width, height), 0, 0))
    const made = canvas.transferToImageBitmap()
    self.postMessage({ bitmap: made, differing }, { transfer: [made] })
  } catch (error) {
    self.postMessage({ failed: String(error) })
  }
}

function pixelsOf(bitmap: ImageBitmap): Pixels {
  const { width, height } = bitmap
  let data: Pixels['data'] = new Uint8ClampedArray()
  draw(width, height, (context) => {
    context.drawImage(bitmap, 0, 0)
    data = context.getImageData(0, 0, width, height).data as Pixels['data']
  })
  bitmap.close()
  return { data, width, height }
}

function draw(
  width: number,
  height: number,
  how: (context: OffscreenCanvasRenderingContext2D) => void,
): OffscreenCanvas {
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (!context) throw new Error('no canvas')
  how(context)
  return canvas
}
