/** What a sandbox's workspace holds, looked at by commands in the sandbox: the judge of what a rewind really did. */
import type { DataFolder } from './host.ts'

/** Path to what is there: a file's hash, or the kind of another entry. */
export type Tree = Readonly<Record<string, string>>

/** Files by their content's hash, folders as such. */
export async function treeOf(data: DataFolder, session: string): Promise<Tree> {
  const command = 'find . -mindepth 1 -type f -exec sha256sum {} + ; find . -mindepth 1 -type d -printf "folder  %p\\n"'
  // Of a rewind in the window it is told by a look; a command would be refused first.
  await data.json('--session', session, 'status')
  const { stdout } = await data.json<{ stdout: string }>('--session', session, 'exec', command)
  const rows = stdout.split('\n').filter(Boolean)
  return Object.fromEntries(
    rows.map((row) => {
      const [what = '', path = ''] = row.split(/ {2}\.\//)
      return [path, what]
    }),
  )
}

/** As the window lists them, sorted: letter and path of each entry that differs. */
export function differencesBetween(before: Tree, after: Tree): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  const rows = [...paths].flatMap((path) => {
    if (before[path] === after[path]) return []
    return before[path] === undefined ? `A ${path}` : after[path] === undefined ? `D ${path}` : `M ${path}`
  })
  return rows.sort()
}
