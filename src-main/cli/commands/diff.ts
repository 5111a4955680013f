/** `rewind diff`: what differs between two points, or between the newest checkpoint and now. */
import type { Change, FilePair } from '../../contract/index.ts'
import { visible, visibleName } from '../../contract/text.ts'
import { bareRewindTarget } from '../../contract/timeline.ts'
import type { Rpc } from '../../serve/client/index.ts'
import type { Define } from '../command.ts'
import { count } from '../output.ts'

interface Range {
  session: string
  from: string
  to: string
}

/** A change with what was asked for beside its letter. */
type Shown = Change & { insertions?: number | null; deletions?: number | null; patch?: string; stat?: string }

export const defineDiff: Define = (program, action) => {
  program
    .command('diff')
    .description('paths that differ, each with a letter: A added, M modified, D deleted, ...')
    .argument('[from]', 'a label or an id; the newest checkpoint by default')
    .argument('[to]', 'a label or an id', 'now')
    .option('--stat', 'lines added and removed by path')
    .option('--patch', 'the whole text, as git writes it')
    .action(
      action<{ stat?: boolean; patch?: boolean }>(async (cli, [from, to = 'now'], { stat, patch }) => {
        const { rpc, session } = await cli.begin()
        const range = { session, from: from ?? (await newest(rpc, session)), to }
        const found = await rpc.files.changes(range)
        const { changeLetter, lineCounts, statLine, unifiedPatch } = await import('../../diff/index.ts')
        const shown: Shown[] = []
        for (const change of found.changes) {
          if (!stat && !patch) shown.push(change)
          else {
            const pair = await pairOf(rpc, range, change)
            const { insertions, deletions } = (pair && lineCounts(pair)) ?? { insertions: null, deletions: null }
            const detail = patch ? { patch: unifiedPatch(change, pair) } : { stat: statLine(change, pair) }
            shown.push({ ...change, insertions, deletions, ...detail })
          }
        }
        const line = (change: Shown) => `${changeLetter(change.status)} ${visibleName(change.stat ?? pathOf(change))}`
        cli.out.result({ ...found, changes: shown }, patch ? asPatch(shown) : shown.map(line).join('\n'))
        if (found.truncated) cli.out.note('There are more changes than this list holds.')
        if (!patch) cli.out.note(summary(found.counts))
      }),
    )
}

/** The newest checkpoint of the line; base where there is none. */
async function newest(rpc: Rpc, session: string): Promise<string> {
  const { points, head } = await rpc.timeline.get({ session })
  return bareRewindTarget(points, head)?.id ?? 'base'
}

/** Both sides of a change; null for what has none. */
export async function pairOf(rpc: Rpc, range: Range, { kind, path, rawPath }: Change): Promise<FilePair | null> {
  return kind === 'folder' || kind === 'other' ? null : rpc.files.pair({ ...range, path, rawPath })
}

const pathOf = ({ path, kind }: Change): string => (kind === 'folder' ? `${path}/` : path)

/** On a terminal a file's own escape sequences are disarmed; into a pipe the patch goes as it is. */
function asPatch(shown: readonly Shown[]): string {
  const text = shown.map(({ patch }) => patch ?? '').join('')
  return process.stdout.isTTY ? visible(text) : text
}

const summary = ({ added, modified, deleted }: { added: number; modified: number; deleted: number }): string =>
  `${count(added + modified + deleted, 'path')} changed: ${added} added, ${modified} modified, ${deleted} deleted`
