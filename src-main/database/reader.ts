/** The process that reads: it can be ended wherever it is, and dies alone. One line for each thing that it finds. */
import { writeFileSync, writeSync } from 'node:fs'
import { compareDatabases, type DatabaseFiles } from './compare.ts'

try {
  // Where memory runs short for all, it is the first to go.
  writeFileSync('/proc/self/oom_score_adj', '1000')
} catch {
  // Only Linux has that.
}
const files = JSON.parse(process.argv[2] ?? '{}') as DatabaseFiles
for (const found of compareDatabases(files)) say(`${JSON.stringify(found)}\n`)

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
