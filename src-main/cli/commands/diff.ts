/** `rewind diff`: what differs between two points, or between the newest checkpoint and now. */
import type { Change, FilePair } from '../../contract/index.ts'
import { bareRewindTarget } from '../../contract/timeline.ts'
import type { Rpc } from '../../serve/client/index.ts'
import type { Define } from '../command.ts'
import { letterOf } from '../letters.ts'
import { bytes, count, visible } from '../output.ts'

interface Range {
  session: string
  from: string
  to: string
}

export const defineDiff: Define = (program, action) => {
  program
    .command('diff')
    .description('paths that differ: A added, M modified, D deleted, T other type, P permissions')
    .argument('[from]', 'a label or an id; the newest checkpoint by default')
    .argument('[to]', 'a label or an id', 'now')
    .option('--stat', 'lines added and removed by path')
    .option('--patch', 'the whole text')
    .action(
      action<{ stat?: boolean; patch?: boolean }>(async (cli, [from, to = 'now'], { stat, patch }) => {
        const { rpc, session } = await cli.begin()
        const range = { session, from: from ?? (await newest(rpc, session)), to }
        const found = await rpc.files.changes(range)
        const details: (Change & Partial<FileDiff>)[] = []
        for (const change of found.changes)
          details.push(stat || patch ? { ...change, ...(await diffOf(rpc, range, change, patch ?? false)) } : change)
        const text = patch ? asPatch(details) : details.map(stat ? statLine : pathLine).join('\n')
        const more = found.truncated ? '\nThere are more changes than this list holds.' : ''
        cli.out.result({ ...found, changes: details }, text + more)
        if (!patch) cli.out.note(summary(found.counts))
      }),
    )
}

/** The newest checkpoint of the line; base where there is none. */
async function newest(rpc: Rpc, session: string): Promise<string> {
  const { points, head } = await rpc.timeline.get({ session })
  return bareRewindTarget(points, head)?.id ?? 'base'
}

interface FileDiff {
  insertions: number | null
  deletions: number | null
  patch?: string
}

async function diffOf(rpc: Rpc, range: Range, change: Change, withPatch: boolean): Promise<FileDiff> {
  if (change.kind === 'folder')
    return { insertions: null, deletions: null, ...(withPatch ? { patch: folderPatch(change) } : {}) }
  const { path, rawPath } = change
  const pair = await rpc.files.pair({ ...range, path, rawPath })
  if (pair.kind === 'binary' || pair.kind === 'large')
    return { insertions: null, deletions: null, ...(withPatch ? { patch: blobPatch(path, pair) } : {}) }
  const { formatPatch, structuredPatch } = await import('diff')
  const name = visible(path)
  const patch = structuredPatch(
    pair.before === null ? '/dev/null' : `a/${name}`,
    pair.after === null ? '/dev/null' : `b/${name}`,
    pair.before ?? '',
    pair.after ?? '',
  )
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const numbers = {
    insertions: lines.filter((line) => line.startsWith('+')).length,
    deletions: lines.filter((line) => line.startsWith('-')).length,
  }
  return withPatch ? { ...numbers, patch: formatPatch(patch).replace(/^=+\n/, '') } : numbers
}

const folderPatch = ({ path, status }: Change): string => `# folder ${visible(path)} ${status}\n`

function blobPatch(path: string, { kind, before, after }: Extract<FilePair, { kind: 'binary' | 'large' }>): string {
  const size = (n: number | null) => (n === null ? 'not there' : bytes(n))
  return `# ${kind} file ${visible(path)}: ${size(before)} -> ${size(after)}\n`
}

const pathLine = (change: Change): string =>
  `${letterOf(change.status)} ${visible(change.path)}${change.kind === 'folder' ? '/' : ''}`

function statLine(change: Change & Partial<FileDiff>): string {
  const { insertions, deletions } = change
  const numbers = insertions === null || insertions === undefined ? sizes(change) : `+${insertions} -${deletions}`
  return `${pathLine(change)} | ${numbers}`
}

const sizes = ({ kind, before, after }: Change): string =>
  kind === 'folder' ? 'folder' : `${bytes(before ?? 0)} -> ${bytes(after ?? 0)}`

/** On a terminal a file's own escape sequences are disarmed; into a pipe the patch goes as it is. */
function asPatch(details: readonly Partial<FileDiff>[]): string {
  const text = details.map(({ patch }) => patch ?? '').join('')
  return process.stdout.isTTY ? visible(text, { lines: true }) : text
}

const summary = ({ added, modified, deleted }: { added: number; modified: number; deleted: number }): string =>
  `${count(added + modified + deleted, 'path')} changed: ${added} added, ${modified} modified, ${deleted} deleted`
