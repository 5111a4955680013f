/**
 * Watching a tree for changes, folder by folder, by the kernel's inotify.
 *
 * Not by `fs.watch(recursive)`, which on Linux walks the tree on its own, watches each file too, and stalls while it
 * does; and not by a native library: those for Node drop the kernel's word that events were lost. So does libuv, but
 * here it can be told: the kernel loses events only when its queue is full, and then the whole queue arrives in one turn
 * of the event loop. A turn that brings anything near that counts as loss.
 */
import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { type ByteString, join, toByteString, toBytes } from '../layers/index.ts'

export interface FolderWatchesOptions {
  root: string
  /** Something was done to an entry, or to what was there under its name. */
  touched: (path: ByteString) => void
  /** Events were lost: anything may have changed. */
  lost: () => void
}

/** Folders beyond this are not watched: each watch holds a kilobyte or two, here and in the kernel. */
const MOST_FOLDERS = 50_000

export class FolderWatches {
  readonly #options: FolderWatchesOptions
  readonly #watchers = new Map<ByteString, FSWatcher>()
  readonly #lossAt = queueLength() / 2
  #inThisTurn = 0
  #failed = false

  constructor(options: FolderWatchesOptions) {
    this.#options = options
  }

  /** False once a folder could not be watched: there are too many, here or for all of this user's programs. */
  get whole(): boolean {
    return !this.#failed
  }

  /** Watches a folder anew: what was there before may have been another one, of the same number even. */
  add(path: ByteString): void {
    if (this.#failed) return
    this.remove(path)
    try {
      if (this.#watchers.size >= MOST_FOLDERS) throw new Error('there are too many folders')
      const at = toBytes(`${toByteString(this.#options.root)}/${path}`)
      const watcher = watch(at, { encoding: 'buffer', persistent: false }, (_, name) => this.#take(path, name))
      watcher.on('error', () => this.#options.lost())
      this.#watchers.set(path, watcher)
    } catch (error) {
      // Gone again: whoever removed it touched its own folder. EACCES: nor can it be listed.
      if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return
      this.#failed = true
      this.close()
    }
  }

  remove(path: ByteString): void {
    this.#watchers.get(path)?.close()
    this.#watchers.delete(path)
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #take(folder: ByteString, name: Buffer | null): void {
    if (this.#inThisTurn++ === 0) {
      setImmediate(() => {
        if (this.#inThisTurn >= this.#lossAt) this.#options.lost()
        this.#inThisTurn = 0
      })
    }
    this.#options.touched(name?.length ? join(folder, toByteString(name)) : folder)
  }
}

/** Events that the kernel keeps for one reader. */
function queueLength(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'latin1')) || 16_384
  } catch {
    return 16_384
  }
}
