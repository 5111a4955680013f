/** How a person or agent names a point, and what a label may be. */
import {
  CheckpointExistsError,
  CheckpointNotFoundError,
  currentLine,
  InvalidOptionError,
  latestOf,
  type Point,
} from '../contract/index.ts'

const LABEL_LIMIT = 256
const RESERVED = new Set(['latest', 'base', 'now'])
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what a label may not hold
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
const ID_SHAPED = /-ckpt-\d+$/

/**
 * @param label as it was given; null where the id shall be the label
 * @throws InvalidOptionError for an empty, long, reserved or id-shaped label; CheckpointExistsError for one that is on the current line
 */
export function checkLabel(label: string, points: readonly Point[], head: string): void {
  const refuse = (why: string): never => {
    throw new InvalidOptionError(`A checkpoint label ${why}.`, {
      nextStep: `Pick 1 to ${LABEL_LIMIT} characters without control characters, or leave the label out.`,
      data: { label: label.slice(0, LABEL_LIMIT) },
    })
  }
  if (label.trim() === '') refuse('cannot be empty')
  if ([...label].length > LABEL_LIMIT)
    refuse(`cannot be longer than ${LABEL_LIMIT} characters (this has ${[...label].length})`)
  if (CONTROL.test(label)) refuse('cannot hold control characters')
  if (RESERVED.has(label)) refuse(`cannot be "${label}", which names a moment by itself`)
  if (ID_SHAPED.test(label)) refuse('cannot look like a checkpoint id (NAME-ckpt-N)')
  const taken = currentLine(points, head).find((point) => point.label === label)
  if (taken)
    throw new CheckpointExistsError(`Checkpoint "${label}" already exists on the current line (${taken.id}).`, {
      nextStep: 'Pick a new label; one that a rewind left on a branch may be used again.',
      data: { label, id: taken.id },
    })
}

/** `auto_NNNN_TOOL`: numbered over the session's automatic checkpoints, and free whatever a person called theirs. */
export function automaticLabel(tool: string, points: readonly Point[]): string {
  const name = tool.replace(/[^\w.-]/gu, '_').slice(0, 64)
  const taken = new Set(points.map((point) => point.label))
  // Above every one that is there: older ones may have been pruned.
  const numbers = points.map((point) =>
    point.tool === null ? 0 : Number(/^auto_(\d+)_/.exec(point.label ?? '')?.[1] ?? 0),
  )
  for (let n = Math.max(0, ...numbers) + 1; ; n++) {
    const label = `auto_${String(n).padStart(4, '0')}_${name}`
    if (!taken.has(label)) return label
  }
}

/**
 * The point that `ref` names: `base`, `latest`, a label of the current line, an id.
 * @throws CheckpointNotFoundError, which lists what there is
 */
export function resolvePoint(ref: string, points: readonly Point[], head: string): Point {
  const line = currentLine(points, head)
  if (ref === 'base' && line[0]) return line[0]
  if (ref === 'latest') {
    const latest = latestOf(points, head)
    if (latest) return latest
    throw new CheckpointNotFoundError('There is no checkpoint to go back to yet.', {
      nextStep: 'Take one with `rewind checkpoint`, or go back to `base`, the workspace as it was.',
      data: { ref },
    })
  }
  const found = line.findLast((point) => point.label === ref) ?? points.find((point) => point.id === ref)
  if (found) return found
  const elsewhere = points.filter((point) => point.label === ref)
  const labels = line.filter((point) => point.kind === 'checkpoint').map((point) => point.label ?? point.id)
  throw new CheckpointNotFoundError(
    elsewhere.length > 0
      ? `Checkpoint "${ref}" is not on the current line; a branch holds it.`
      : `There is no checkpoint "${ref.slice(0, LABEL_LIMIT)}".`,
    {
      nextStep:
        elsewhere.length > 0
          ? `Name it by its id: ${elsewhere.map((point) => point.id).join(', ')}.`
          : labels.length > 0
            ? `On the current line: ${labels.slice(-20).join(', ')}, base.`
            : 'There is only `base` so far.',
      data: { ref: ref.slice(0, LABEL_LIMIT), labels: labels.slice(-100) },
    },
  )
}
