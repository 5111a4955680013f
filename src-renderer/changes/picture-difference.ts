/** Has a worker compare two pictures, pixel by pixel; one worker for each question, so that one can be called off. */

export type Found = { bitmap: ImageBitmap; differing: number } | { failed: string }

/** More pixels take more memory than a comparison is worth. */
const MOST_PIXELS = 50_000_000
/** As files that were deleted, in either theme. */
const MARK = [214, 40, 40] as const

export async function pictureDifference(
  before: HTMLImageElement,
  after: HTMLImageElement,
  signal: AbortSignal,
): Promise<Found> {
  const width = Math.max(before.naturalWidth, after.naturalWidth)
  const height = Math.max(before.naturalHeight, after.naturalHeight)
  if (width * height > MOST_PIXELS) return { failed: 'These pictures are too large to be compared' }
  let worker: Worker | null = null
  try {
    const bitmaps = { before: await createImageBitmap(before), after: await createImageBitmap(after) }
    const own = new Worker(new URL('./pixels-worker.ts', import.meta.url), { type: 'module' })
    worker = own
    return await new Promise<Found>((resolve) => {
      own.onmessage = ({ data }: MessageEvent<Found>) => resolve('failed' in data ? CANNOT : data)
      own.onerror = () => resolve(CANNOT)
      signal.addEventListener('abort', () => resolve(CANNOT), { once: true })
      own.postMessage({ ...bitmaps, mark: MARK }, [bitmaps.before, bitmaps.after])
    })
  } catch {
    return CANNOT
  } finally {
    worker?.terminate()
  }
}

const CANNOT: Found = { failed: 'These pictures cannot be compared pixel by pixel' }
