/** Run as a process of its own on a small file system: fills it through the store and tells what became of it. */
import { DiskFullError } from '../contract/index.ts'
import { openStore } from './index.ts'

const file = process.argv[2] ?? ''
const store = openStore(file)
store.settings.set('first', 'kept')
let stored = 0
let refusal: unknown
while (!refusal) {
  try {
    store.transaction(() => {
      store.settings.set('count', String(stored + 1))
      store.settings.set(`filler ${stored}`, 'x'.repeat(20_000))
    })
    stored++
  } catch (error) {
    refusal = error
  }
}
const count = Number(store.settings.get('count'))
store.close()
const again = openStore(file)
console.log(
  JSON.stringify({
    isDiskFull: refusal instanceof DiskFullError,
    countsAgree: stored > 0 && count === stored && Number(again.settings.get('count')) === stored,
    first: again.settings.get('first'),
  }),
)
again.close()
