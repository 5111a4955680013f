/** `rewind checkpoint` and `rewind checkpoint ls`: points taken, and those that are there. */
import { MAIN } from '../../contract/format-names.ts'
import type { Point, Timeline } from '../../contract/index.ts'
import { shellWord, visibleName } from '../../contract/text.ts'
import { bareRewindTarget, branchesOf, currentLine, nameOf } from '../../contract/timeline.ts'
import type { Define } from '../command.ts'
import { formatOption, messageFormat, readMessages } from '../messages-file.ts'
import { ago, count, table } from '../output.ts'

export const defineCheckpoint: Define = (program, action) => {
  const checkpoint = program
    .command('checkpoint')
    .description('save a point to go back to; `checkpoint ls` lists them')
    .argument('[label]', 'its name; without one the id is the name')
    .option('--why <text>', 'why it is worth keeping')
    .option('--messages <file>', 'the conversation so far, a JSON list (- for stdin)')
    .option('--format <name>', formatOption)
    .option('--conversation <key>', "they are a sub-agent's instead of the main one's")
    .action(
      action<{ why?: string; messages?: string; format?: string; conversation?: string }>(
        async (cli, [label], options) => {
          const messages = options.messages === undefined ? null : await readMessages(options.messages)
          const { rpc, session } = await cli.begin('acts')
          const point = await rpc.timeline.checkpoint({
            session,
            label: label ?? null,
            why: options.why ?? null,
            messages,
            format: messageFormat(options.format),
            conversation: options.conversation ?? MAIN,
          })
          const name = point.label === null ? '' : ` (${visibleName(point.label)})`
          cli.out.result(
            { checkpoint: nameOf(point), id: point.id, status: 'saved', ms: point.ms },
            `checkpoint ${point.id}${name} saved in ${Math.round(point.ms)} ms\n  go back with \`rewind rewind --to ${shellWord(typedName(point))}\``,
          )
        },
      ),
    )
  checkpoint
    .command('ls')
    .description('the checkpoints of the current line, oldest first')
    .option('--all', 'automatic ones too')
    .option('--branches', 'what rollbacks left behind, too')
    .action(
      action<{ all?: boolean; branches?: boolean }>(async (cli, _operands, options) => {
        const { rpc, session } = await cli.begin()
        const timeline = await rpc.timeline.get({ session })
        cli.out.result(asData(timeline, options), asText(timeline, options))
      }),
    )
}

/** What names the point again when it is typed: not a label that cannot be read off the screen. */
const typedName = (point: Point): string => {
  const name = nameOf(point)
  return visibleName(name) === name ? name : point.id
}

interface Shown {
  all?: boolean
  branches?: boolean
}

const checkpointsOf = ({ points, head }: Timeline): Point[] =>
  currentLine(points, head).filter((point) => point.kind === 'checkpoint')

/** The point that a bare rewind goes to; base is a target only when it is named. */
function starred({ points, head }: Timeline): string | null {
  const target = bareRewindTarget(points, head)
  return target?.kind === 'checkpoint' ? target.id : null
}

function asData(timeline: Timeline, shown: Shown): object {
  const target = starred(timeline)
  const checkpoints = checkpointsOf(timeline)
  const branches = branchesOf(timeline.points, timeline.head)
  return {
    checkpoints: checkpoints.map((point) => ({ ...point, rewindTarget: point.id === target })),
    count: checkpoints.length,
    head: timeline.head,
    ...(shown.branches ? { branches } : {}),
  }
}

function asText(timeline: Timeline, shown: Shown): string {
  const target = starred(timeline)
  const line = checkpointsOf(timeline)
  const isShown = (point: Point) => shown.all || point.takenBy !== 'auto' || point.id === target
  const visibleOnes = line.filter(isShown)
  const folded = line.length - visibleOnes.length
  const parts: string[] = []
  if (visibleOnes.length > 0)
    parts.push(
      table([[' CHECKPOINT', 'WHEN', 'TAKEN', 'WHY'], ...visibleOnes.map((point) => row(point, point.id === target))]),
    )
  if (folded > 0) parts.push(`${count(folded, 'automatic checkpoint')} not shown (--all)`)
  if (shown.branches) parts.push(...branchesOf(timeline.points, timeline.head).map(branchText))
  parts.push(
    target === null ? 'No checkpoint yet: `rewind checkpoint LABEL` saves one.' : '* is where `rewind rewind` goes',
  )
  return parts.join('\n\n')
}

const row = (point: Point, isTarget: boolean): string[] => [
  `${isTarget ? '*' : ' '}${point.id}`,
  ago(point.at),
  point.takenBy,
  visibleName(labelAndReason(point)),
]

/** `stable: constant-time comparison`: the label to go back by, and what for. */
const labelAndReason = ({ id, label, why, tool }: Point): string =>
  [label === id ? null : label, why ?? tool].filter((part) => part !== null).join(': ')

const branchText = ({ letter, from, points }: { letter: string; from: string; points: Point[] }): string =>
  `branch ${letter}, left the line at ${from}\n${table(points.map((point) => row(point, false)))}`
