/** Life of a headless host: starts, keeps its log short, ends when it is told to or has nothing left to do. */
import { fstatSync, ftruncateSync } from 'node:fs'
import { HostRunningError, RewindError } from '../contract/index.ts'
import { OWNED_BY_ANOTHER } from './client/exit-codes.ts'
import { idleMinutes } from './idle.ts'
import { dataFolder, rendererFolder, startHost, version } from './index.ts'

const LOG_BYTES = 8 * 1024 * 1024

/** Runs until the host ends, then ends the process. */
export async function runHeadless(): Promise<never> {
  // A promise that nobody waited for: one session's fault is told, and does not take the others' host away.
  process.on('unhandledRejection', (error) => log(error))
  try {
    const host = await startHost({
      home: dataFolder(),
      kind: 'headless',
      version,
      renderer: rendererFolder,
      idleMs: idleMinutes(process.env.REWIND_IDLE_MINUTES) * 60_000,
    })
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => void host.close())
    setInterval(keepLogShort, 60_000).unref()
    log(`host ${version} of ${host.home}, process ${process.pid}`)
    const why = await host.closed
    log(`ended: ${why}`)
    process.exit(0)
  } catch (error) {
    // Another client's host was quicker: the one who started this process finds that one.
    if (error instanceof HostRunningError) process.exit(OWNED_BY_ANOTHER)
    log(error instanceof RewindError ? [error.message, error.nextStep].filter(Boolean).join(' ') : error)
    process.exit(1)
  }
}

/** stdout is the log; a fault of ours comes with its stack. */
const log = (what: unknown): void => console.log(new Date().toISOString(), what)

/** The log is open for appending, so what is written next starts at its new end. */
function keepLogShort(): void {
  const facts = fstatSync(1)
  if (facts.isFile() && facts.size > LOG_BYTES) ftruncateSync(1)
}
