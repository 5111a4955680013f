/** The host within this process: one per data folder, shared by the sessions that asked for it, gone with the last. */
import type { Host } from '../serve/index.ts'

export interface EmbeddedHost {
  /** Resolves when the data folder is free again, where this was the last one that used it. */
  release(): Promise<void>
}

const running = new Map<string, { host: Promise<Host>; users: number }>()
const closing = new Map<string, Promise<void>>()

/**
 * @param home the data folder
 * @throws HostRunningError naming the process that owns the data folder
 */
export async function embedHost(home: string): Promise<EmbeddedHost> {
  const shared = running.get(home) ?? { host: start(home), users: 0 }
  running.set(home, shared)
  shared.users++
  try {
    const host = await shared.host
    return {
      async release() {
        shared.users--
        if (shared.users > 0) return
        running.delete(home)
        const closed = host.close().finally(() => closing.delete(home))
        closing.set(home, closed)
        await closed
      },
    }
  } catch (error) {
    if (running.get(home) === shared) running.delete(home)
    throw error
  }
}

async function start(home: string): Promise<Host> {
  // What one session lets go of, the next one takes.
  await closing.get(home)
  const { rendererFolder, startHost, version } = await import('../serve/index.ts')
  return startHost({ home, kind: 'headless', version, renderer: rendererFolder })
}
