/** Two pictures: beside each other, one over the other with a divide that moves, or as what differs between them. */
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { count, size } from '../elements/format.ts'
import { Loading, Nothing } from '../elements/problem.tsx'
import { Segments } from '../elements/segments.tsx'
import { remembered } from '../host/remembered.ts'
import { type Found, pictureDifference } from './picture-difference.ts'

type Look = 'beside' | 'swipe' | 'difference'

const looks: readonly { value: Look; text: string }[] = [
  { value: 'beside', text: 'Side by side' },
  { value: 'swipe', text: 'Swipe' },
  { value: 'difference', text: 'Difference' },
]
const memory = remembered('picture-look')

interface ImageViewProps {
  /** With their types; null where there is no file. */
  before: Blob | null
  after: Blob | null
  /** What is shown where one of them cannot be drawn. */
  otherwise: React.ReactNode
}

export function ImageView({ before, after, otherwise }: ImageViewProps) {
  const [look, setLook] = useState<Look>(() => looks.find(({ value }) => value === memory.get())?.value ?? 'beside')
  const was = usePicture(before)
  const is = usePicture(after)
  if (was === 'loading' || is === 'loading') return <Loading what="Drawing" />
  if (was === 'torn' || is === 'torn')
    return (
      <div className="flex h-full min-h-0 flex-col">
        <p className="shrink-0 border-b border-line bg-warn-soft px-3 py-1 text-small text-warn">
          {was === 'torn' && is === 'torn'
            ? 'Neither side can be drawn as a picture'
            : `The picture ${was === 'torn' ? 'before' : 'after'} cannot be drawn`}
        </p>
        <div className="min-h-0 flex-1">{otherwise}</div>
      </div>
    )
  const both = was && is ? { before: was, after: is } : null
  const choose = (next: Look) => {
    memory.set(next)
    setLook(next)
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex min-h-9 shrink-0 flex-wrap items-center gap-x-3 border-b border-line px-3 text-small text-ink-2">
        {both ? <Segments label="Picture view" value={look} onChange={choose} choices={looks} /> : null}
        <span>{[was, is].flatMap((picture) => (picture ? [factsOf(picture)] : [])).join(' → ')}</span>
      </div>
      <div className="min-h-0 flex-1 overflow-hidden p-3">
        {both && look === 'swipe' ? (
          <Swipe {...both} />
        ) : both && look === 'difference' ? (
          <Difference {...both} />
        ) : (
          <div className="grid h-full auto-cols-fr grid-flow-col gap-3">
            {was ? <Shown picture={was} name="Before" /> : null}
            {is ? <Shown picture={is} name="After" /> : null}
          </div>
        )}
      </div>
    </div>
  )
}

interface Picture {
  url: string
  image: HTMLImageElement
  width: number
  height: number
  bytes: number
}

const factsOf = ({ width, height, bytes }: Picture): string => `${width} × ${height} · ${size(bytes)}`

/** As an image of its own, which runs no script and fetches nothing, whatever it holds. */
function usePicture(blob: Blob | null): Picture | null | 'loading' | 'torn' {
  const [drawn, setDrawn] = useState<{ blob: Blob; picture: Picture | 'torn' } | null>(null)
  useEffect(() => {
    if (!blob) return
    let wanted = true
    const url = URL.createObjectURL(blob)
    const image = new Image()
    image.src = url
    image.decode().then(
      () => {
        const { naturalWidth: width, naturalHeight: height } = image
        if (wanted) setDrawn({ blob, picture: { url, image, width, height, bytes: blob.size } })
      },
      () => {
        if (wanted) setDrawn({ blob, picture: 'torn' })
      },
    )
    return () => {
      wanted = false
      URL.revokeObjectURL(url)
    }
  }, [blob])
  if (!blob) return null
  return drawn?.blob === blob ? drawn.picture : 'loading'
}

/** As large as they are, or as there is room for; both in one scale. */
const fit = (...pictures: readonly Picture[]): { width: string; aspectRatio: string } => {
  const width = Math.max(1, ...pictures.map((picture) => picture.width))
  const height = Math.max(1, ...pictures.map((picture) => picture.height))
  return { width: `min(${width}px, 100cqw, 100cqh * ${width / height})`, aspectRatio: `${width} / ${height}` }
}

function Shown({ picture, name }: { picture: Picture; name: string }) {
  return (
    <figure className="flex min-h-0 min-w-0 flex-col gap-1">
      <div className="grid min-h-0 flex-1 place-items-center [container-type:size]">
        <img src={picture.url} alt={`${name}, ${factsOf(picture)}`} className="checkerboard" style={fit(picture)} />
      </div>
      <figcaption className="text-center text-small text-ink-2">{name}</figcaption>
    </figure>
  )
}

interface BothProps {
  before: Picture
  after: Picture
}

const STEP = 2
const LARGE_STEP = 10

function Swipe({ before, after }: BothProps) {
  const [at, setAt] = useState(50)
  const stage = useRef<HTMLDivElement>(null)
  const to = (next: number) => setAt(Math.min(100, Math.max(0, Math.round(next))))
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowLeft: at - STEP,
      ArrowDown: at - STEP,
      ArrowRight: at + STEP,
      ArrowUp: at + STEP,
      PageDown: at - LARGE_STEP,
      PageUp: at + LARGE_STEP,
      Home: 0,
      End: 100,
    }
    const next = steps[event.key]
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    to(next)
  }
  const onPointer = (event: PointerEvent) => {
    if (event.buttons !== 1 || !stage.current) return
    stage.current.setPointerCapture(event.pointerId)
    const { left, width } = stage.current.getBoundingClientRect()
    to(((event.clientX - left) / width) * 100)
  }
  const width = Math.max(before.width, after.width)
  const shared = (picture: Picture, clip: string) => ({ width: `${(picture.width / width) * 100}%`, clipPath: clip })
  // A share of the stage as one of the picture, which may be narrower.
  const inside = (picture: Picture) => Math.min(100, (at * width) / picture.width)
  return (
    <figure className="flex h-full min-h-0 flex-col gap-1">
      <div className="grid min-h-0 flex-1 place-items-center [container-type:size]">
        <div
          ref={stage}
          onPointerDown={onPointer}
          onPointerMove={onPointer}
          className="checkerboard relative touch-none overflow-hidden"
          style={fit(before, after)}
        >
          <img
            src={before.url}
            alt="Before"
            draggable={false}
            className="absolute top-0 left-0"
            style={shared(before, `inset(0 ${100 - inside(before)}% 0 0)`)}
          />
          <img
            src={after.url}
            alt="After"
            draggable={false}
            className="absolute top-0 left-0"
            style={shared(after, `inset(0 0 0 ${inside(after)}%)`)}
          />
          <div
            role="slider"
            tabIndex={0}
            aria-label="Divide between before and after"
            aria-valuemin={0}
            aria-valuemax={100}
            aria-valuenow={at}
            aria-valuetext={`${at}% before`}
            onKeyDown={onKeyDown}
            className="absolute inset-y-0 -ml-2 flex w-4 cursor-ew-resize justify-center"
            style={{ left: `${at}%` }}
          >
            <span className="h-full w-0.5 bg-accent" />
          </div>
        </div>
      </div>
      <figcaption className="flex justify-between text-small text-ink-2">
        <span>Before</span>
        <span>After</span>
      </figcaption>
    </figure>
  )
}

function Difference({ before, after }: BothProps) {
  const [found, setFound] = useState<{ of: Picture; found: Found } | null>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const abort = new AbortController()
    void pictureDifference(before.image, after.image, abort.signal).then((it) => {
      if (!abort.signal.aborted) setFound({ of: after, found: it })
    })
    return () => abort.abort()
  }, [before, after])
  const ready = found?.of === after ? found.found : null
  useEffect(() => {
    if (ready === null || 'failed' in ready || !canvas.current) return
    canvas.current.width = ready.bitmap.width
    canvas.current.height = ready.bitmap.height
    canvas.current.getContext('2d')?.drawImage(ready.bitmap, 0, 0)
  }, [ready])
  if (ready === null) return <Loading what="Comparing" />
  if ('failed' in ready) return <Nothing title={ready.failed} />
  const all = ready.bitmap.width * ready.bitmap.height
  const words =
    ready.differing === 0
      ? 'Every pixel is the same'
      : `${count(ready.differing, 'pixel differs', 'pixels differ')}, ${percent(ready.differing / all)} of the picture`
  return (
    <figure className="flex h-full min-h-0 flex-col gap-1">
      <div className="grid min-h-0 flex-1 place-items-center [container-type:size]">
        <canvas ref={canvas} role="img" aria-label={words} className="checkerboard" style={fit(before, after)} />
      </div>
      <figcaption className="text-center text-small text-ink-2">{words}</figcaption>
    </figure>
  )
}

const percent = (share: number): string => (share < 0.001 ? 'under 0.1%' : `${(share * 100).toFixed(1)}%`)
