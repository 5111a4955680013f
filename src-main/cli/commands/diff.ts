/** `rewind diff`: what differs between two points, or between the newest checkpoint and now. */
import type { Change } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import { lastSaved } from '../../contract/timeline.ts'
import { ahead, contentsOf, pairOf, type Range, type Rpc } from '../../serve/client/index.ts'
import type { Define } from '../command.ts'
import { count } from '../output.ts'

interface Options {
  stat?: boolean
  patch?: boolean
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
    .option('--patch', 'the whole text, for `git apply`; exit code 1 where that cannot hold everything')
    .action(
      action<Options>(async (cli, [from, to = 'now'], options) => {
        const { rpc, session } = await cli.begin()
        const range = { session, from: from ?? (await lastPoint(rpc, session)), to }
        const found = await rpc.files.changes({ ...range, limit: null })
        const { json } = cli.out
        const shown: Shown[] = []
        const missing: string[] = []
        for await (const one of details(rpc, range, found.changes, options, json)) {
          if (one.whole === false) missing.push(pathOf(one.change))
          if (json) shown.push(one.shown)
          else await cli.out.part(one.text)
        }
        cli.out.result({ ...found, changes: shown, ...(options.patch ? { missing } : {}) }, '')
        if (!options.patch) cli.out.note(summary(found.counts))
        if (missing.length === 0) return
        cli.exitCode = 1
        for (const path of missing) cli.out.problem(`rewind: the patch does not hold ${visibleName(path)}`)
      }),
    )
}

interface Detail {
  change: Change
  shown: Shown
  /** As a person sees it, line ends included. */
  text: string
  /** Whether the patch holds all of it; left out where none was asked for. */
  whole?: boolean
}

/** The changes as they are shown, in their order. */
async function* details(
  rpc: Rpc,
  range: Range,
  changes: readonly Change[],
  { stat, patch }: Options,
  counted: boolean,
): AsyncGenerator<Detail> {
  const { changeLetter, contentsNeeded, isWhole, lineCounts, statLine, unifiedPatch } = await import(
    '../../diff/index.ts'
  )
  const line = (change: Change, what: string) => `${changeLetter(change.status)} ${visibleName(what)}\n`
  if (!stat && !patch) {
    for (const change of changes) yield { change, shown: change, text: line(change, pathOf(change)) }
    return
  }
  for await (const [change, pair] of ahead(changes, (change) => pairOf(rpc, range, change))) {
    const none = { insertions: null, deletions: null }
    const counts = counted ? ((pair && lineCounts(pair)) ?? none) : {}
    if (patch) {
      const needed = contentsNeeded(change, pair)
      const contents = needed && (await contentsOf(rpc, range, change, needed))
      const text = unifiedPatch(change, pair, contents)
      yield { change, shown: { ...change, ...counts, patch: text }, text, whole: isWhole(change, pair, contents) }
    } else {
      const text = statLine(change, pair)
      yield { change, shown: { ...change, ...counts, stat: text }, text: line(change, text) }
    }
  }
}

/** The newest point of the line that somebody took; base where there is none. */
async function lastPoint(rpc: Rpc, session: string): Promise<string> {
  const { points, head } = await rpc.timeline.get({ session })
  return lastSaved(points, head)?.id ?? 'base'
}

const pathOf = ({ path, kind }: Change): string => (kind === 'folder' ? `${path}/` : path)

const summary = ({ added, modified, deleted }: { added: number; modified: number; deleted: number }): string =>
  `${count(added + modified + deleted, 'path')} changed: ${added} added, ${modified} modified, ${deleted} deleted`
