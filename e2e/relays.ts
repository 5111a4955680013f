/** What tests of relays look for among this machine's processes. */
import { readdirSync, readFileSync } from 'node:fs'

/** Process ids of the relays that a host started. @param host its process id */
export function relaysOf(host: number | undefined): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const parent = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[1]
      return parent === String(host) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('port-relay')
    } catch {
      return false
    }
  })
}
