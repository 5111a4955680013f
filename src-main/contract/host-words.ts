/** What became of the workspace on the host, in the words that window and command line share. */
import type { HostState, Point, SessionSummary } from './model.ts'

const entries = (count: number): string => (count === 1 ? '1 entry' : `${count.toLocaleString('en')} entries`)

/** @returns a sentence or two for a person; null where the host's files are as they were when the session began */
export function hostNotice({
  host,
  base,
  workspace,
}: Pick<SessionSummary, 'host' | 'base' | 'workspace'>): string | null {
  if (host === null) return null
  if (!host.there) {
    return base === 'live'
      ? `${workspace} was moved, removed or replaced on the host. The sandbox goes on with the folder that it was.`
      : `${workspace} was moved, removed or replaced on the host. The sandbox has its own copy.`
  }
  const unchecked = host.checked ? '' : ' The host is not watched all the time here: this is what the last look found.'
  if (host.changed === 0) return host.checked ? null : 'The host’s files were not checked for changes.'
  const told =
    base === 'live'
      ? 'They show in the sandbox, at earlier points too, where it has not changed them itself.'
      : 'The sandbox still has them as they were.'
  return `${entries(host.changed)} changed on the host since this session began: ${named(host)}. ${told}${unchecked}`
}

/** @returns what a point has to say of the host; null where nothing there had changed since the point before */
export function pointHostNotice({ host }: Pick<Point, 'host'>): string | null {
  if (host === null) return null
  if (!host.checked) return 'The host’s files were not checked for changes at this point.'
  return `${entries(host.changed)} changed on the host before this point.`
}

const NAMED = 3

function named({ changes, changed }: HostState): string {
  const first = changes
    .slice(0, NAMED)
    .map(({ path, status }) => (status === 'modified' ? path : `${path} (${status})`))
  return first.join(', ') + (changed > first.length ? ` and ${changed - first.length} more` : '')
}
