/**
 * Entry of `rewind`. Looks at Node's version before anything else is imported, and switches on the compile cache,
 * which makes the difference between a command that answers at once and one that is waited for.
 */
import { statSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { dataFolder } from '../serve/home.ts'

const major = Number(process.versions.node.split('.', 1)[0])
if (major < 24) {
  console.error(`rewind needs Node 24 or newer; this is ${process.version} (${process.execPath}).`)
  process.exit(70)
}

/** Compiled code is as good as code: it is kept in the data folder, never where another user could put it first. */
function useCompileCache(): void {
  try {
    const home = dataFolder()
    if (statSync(home).uid === process.getuid?.()) module.enableCompileCache(join(home, 'cache'))
  } catch {
    // No data folder yet, or one that the command itself will complain about.
  }
}

/**
 * oRPC asks of every value whether it is a FormData, and Node loads its whole HTTP client to answer, a third of what
 * `rewind status` takes. The CLI neither sends nor gets one.
 */
function answerForFormData(): void {
  // Assigned and not defined: looking at the property is what loads it.
  globalThis.FormData = class FormData {} as typeof globalThis.FormData
}

useCompileCache()
answerForFormData()
const { run } = await import('./program.ts')
await run(process.argv.slice(2))
