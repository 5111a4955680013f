/** Starting a host where another one may run: an idle one makes way, one at work keeps the data folder. */
import { setTimeout as sleep } from 'node:timers/promises'
import { HostRunningError } from '../contract/index.ts'
import { connectHost } from './client/index.ts'
import type { Host } from './host.ts'

/** How long an owner that agreed to go may take. */
const GONE_WITHIN_MS = 15_000

/**
 * Calls `start`; where another host owns the data folder, asks that one to end and starts once it has.
 * @throws HostBusyError when the owner is at work or is the app; HostRunningError when it agreed and stays
 */
export async function takeOver(home: string, start: () => Promise<Host>): Promise<Host> {
  try {
    return await start()
  } catch (error) {
    if (!(error instanceof HostRunningError)) throw error
  }
  const owner = await connectHost({ home, start: false })
  try {
    await owner.rpc.host.handOver({ force: false })
  } finally {
    owner.close()
  }
  for (const until = Date.now() + GONE_WITHIN_MS; ; await sleep(50)) {
    try {
      return await start()
    } catch (error) {
      if (!(error instanceof HostRunningError) || Date.now() > until) throw error
    }
  }
}
