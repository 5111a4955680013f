/**
 * Entry of the headless host. The version is looked at before anything else is imported: on an older Node the store's
 * native part would end the process without a word.
 */

const major = Number(process.versions.node.split('.', 1)[0])
if (major < 24) {
  console.error(`Rewind's host needs Node 24 or newer; this is ${process.version} (${process.execPath}).`)
  process.exit(70)
}
const { runHeadless } = await import('./headless.ts')
await runHeadless()

export {}
