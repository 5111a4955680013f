/** What is handed to the kernel as an overlay, and whether it took it as it was meant. */
import { EngineUnavailableError } from '../../contract/index.ts'
import type { Mount } from './mountinfo.ts'

export interface OverlayMount {
  upper: number
  /** A fresh folder each time: a volatile mount leaves a mark in it that forbids another. */
  work: number
  lowers: readonly number[]
}

export type EngineMode = 'root' | 'user'

/**
 * `volatile`: otherwise each unmount syncs the host's whole file system. `redirect_dir`: folders of lower layers can be
 * renamed; frozen layers hold no trace of it (see freezing.ts). In user namespaces the kernel refuses that option, and
 * answers EXDEV to such a rename.
 */
export const overlayOptions = (mode: EngineMode): string =>
  mode === 'root'
    ? 'nosuid,nodev,index=off,xino=off,metacopy=off,redirect_dir=on,volatile'
    : 'nosuid,nodev,userxattr,index=off,xino=off,metacopy=off,volatile'

/** mount(2) cuts its options at 4,095 bytes without an error. */
const OPTION_BYTES = 4000
/** The kernel stops at 500. */
const MOST_LOWERS = 490

/**
 * The words by which the control shell's functions take an overlay.
 * @throws EngineUnavailableError where the stack is too deep to be mounted
 */
export function overlayWords({ upper, work, lowers }: OverlayMount, mode: EngineMode): string {
  const words = `${upper} ${work} ${lowers.join(':')}`
  if (lowers.length > MOST_LOWERS || overlayOptions(mode).length + words.length + 60 > OPTION_BYTES) {
    throw new EngineUnavailableError(
      `This point would stand on ${lowers.length} layers; ${MOST_LOWERS} can be mounted.`,
      {
        nextStep: 'End this session and begin a new one; its checkpoints can still be read.',
        data: { layers: lowers.length },
      },
    )
  }
  return words
}

/** Whether an overlay stands at a mount point with exactly these layers, and takes writes. */
export function standsAt(
  mounts: readonly Mount[],
  point: string,
  wanted: Pick<OverlayMount, 'upper' | 'lowers'>,
): boolean {
  const mount = mounts.findLast((one) => one.point === point)
  return (
    mount !== undefined &&
    mount.fileSystem === 'overlay' &&
    // The kernel mounts read-only where it could not make its work folder.
    !mount.options.includes('ro') &&
    mount.options.includes(`upperdir=${wanted.upper}`) &&
    mount.options.includes(`lowerdir=${wanted.lowers.join(':')}`)
  )
}
