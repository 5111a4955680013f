/**
 * The process that reads: it can be ended wherever it is, and dies alone. One line for each thing that it finds. A query
 * may keep its thread for ever, so another one watches: whoever asked for it may be killed before it could end this.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { compareDatabases, type DatabaseFiles } from './compare.ts'

/** More than it is ever given. */
const LONGEST_MS = 30_000
const HEAP_MB = 256

if (isMainThread) watch()
else for (const found of compareDatabases(workerData as DatabaseFiles)) say(`${JSON.stringify(found)}\n`)

function watch(): void {
  try {
    // Where memory runs short for all, it is the first to go.
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Only Linux has that.
  }
  // An orderly exit would wait for the query.
  const die = () => process.kill(process.pid, 'SIGKILL')
  process.stdin.once('close', die).once('error', die).resume()
  setTimeout(die, LONGEST_MS)
  new Worker(import.meta.filename, {
    workerData: JSON.parse(process.argv[2] ?? '{}') as DatabaseFiles,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
    .once('error', die)
    .once('exit', (code) => process.exit(code))
}

/** At once, as it may be ended with the next table. */
function say(line: string): void {
  const bytes = Buffer.from(line)
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}
