/**
 * A file that is no text: told by what it begins with, and shown as a picture, as the tables of a database, or as bytes.
 */
import type { FilePair } from '../../src-main/contract/index.ts'
import { Loading, Problem } from '../elements/problem.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import { DatabaseView } from './database-view.tsx'
import type { Layout } from './diff.tsx'
import { HexView } from './hex-view.tsx'
import { ImageView } from './image-view.tsx'
import { type Place, pathsOf, placeKey, sidesOf, withoutLog } from './place.ts'
import { type FileRef, partOf, wholeOf } from './read-file.ts'
import { contentOfBoth, HEAD_BYTES, type ImageType } from './sniff.ts'

/** Pictures of more bytes are not fetched. */
const PICTURE_BYTES = 8 << 20

interface MediaProps {
  place: Place
  layout: Layout
  pair: Extract<FilePair, { kind: 'binary' | 'large' }>
  /** What is shown where its first bytes say nothing and it may be text, given what is shown where it is none. */
  large?: (bytes: React.ReactNode) => React.ReactNode
}

export function Media({ place, pair, layout, large }: MediaProps) {
  const { rpc } = useHost()
  const sides = sidesOf(place, pair)
  const asked = useAsked(`${placeKey(place)} head`, place.version, async (signal) => {
    const head = (side: FileRef | null) => (side ? partOf(rpc, side, { offset: 0, limit: HEAD_BYTES }, signal) : null)
    return contentOfBoth(...(await Promise.all([head(sides.before), head(sides.after)])))
  })
  if (asked.state === 'loading') return <Loading what="Reading" />
  if (asked.state === 'failed')
    return <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
  const bytes = <HexView place={place} pair={pair} layout={layout} />
  switch (asked.value.kind) {
    case 'image':
      return Math.max(pair.before ?? 0, pair.after ?? 0) > PICTURE_BYTES ? (
        bytes
      ) : (
        <Picture place={place} pair={pair} type={asked.value.type} otherwise={bytes} />
      )
    case 'database':
      return <DatabaseView place={place} path={pathsOf(place.change)} otherwise={bytes} />
    case 'log': {
      const path = withoutLog(pathsOf(place.change))
      return path ? <DatabaseView place={place} path={path} otherwise={bytes} /> : bytes
    }
    case 'other':
      return large ? large(bytes) : bytes
  }
}

interface PictureProps {
  place: Place
  pair: Extract<FilePair, { kind: 'binary' | 'large' }>
  type: ImageType
  otherwise: React.ReactNode
}

function Picture({ place, pair, type, otherwise }: PictureProps) {
  const { rpc } = useHost()
  const sides = sidesOf(place, pair)
  const asked = useAsked(`${placeKey(place)} picture`, place.version, async (signal) => {
    const whole = async (side: FileRef | null) => (side ? new Blob([await wholeOf(rpc, side, signal)], { type }) : null)
    const [before, after] = await Promise.all([whole(sides.before), whole(sides.after)])
    return { before, after }
  })
  if (asked.state === 'loading') return <Loading what="Reading" />
  if (asked.state === 'failed')
    return <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
  return <ImageView {...asked.value} otherwise={otherwise} />
}
