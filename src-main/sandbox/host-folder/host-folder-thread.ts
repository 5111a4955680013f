/** The thread that lists and watches the host's folders, those of all sessions. */
import { serveThread } from '../threads/index.ts'
import {
  type HostCheck,
  type HostComparison,
  TrackedFolder,
  type TrackOptions,
  type Written,
} from './tracked-folder.ts'

const tracked = new Map<string, TrackedFolder>()

const say = serveThread({
  track: async (options: TrackOptions): Promise<void> => {
    await tracked.get(options.id)?.close()
    tracked.set(options.id, new TrackedFolder(options, (report) => say({ id: options.id, report })))
  },
  check: (id: string): Promise<HostCheck> | null => tracked.get(id)?.check() ?? null,
  compare: (id: string, paths: string[], trees: string[]): Promise<HostComparison | null> | null =>
    tracked.get(id)?.compare(paths, trees) ?? null,
  accept: (id: string, entries: Written[]): Promise<void> | undefined => tracked.get(id)?.accept(entries),
  release: (id: string): Promise<void> | undefined => {
    const folder = tracked.get(id)
    tracked.delete(id)
    return folder?.close()
  },
})
