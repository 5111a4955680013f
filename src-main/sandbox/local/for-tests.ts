/** The local engine, as tests describe it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProviderSource } from '../conformance/world.ts'

/** Processes that have to do with a data folder, or with one sandbox in it, by their mounts or environment. */
function localTraces({ home }: { home: string }, id?: string): string[] {
  const folder = id === undefined ? home : join(home, 'sandboxes', id)
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => {
      const read = (file: string): string => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, 'utf8')
        } catch {
          return ''
        }
      }
      return read('mountinfo').includes(folder) || read('environ').includes(`FOLDER=${folder}`)
    })
}

export const localSource: ProviderSource = {
  module: join(import.meta.dirname, 'index.ts'),
  factory: 'createLocalProvider',
  scope: 'workspace',
  network: () => ({ address: '127.0.0.1', shared: true }),
  traces: localTraces,
}
