/** The local engine, as tests describe it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ProviderSource, World } from '../conformance/world.ts'
import type { Sandbox } from '../sandbox.ts'

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

async function onSmallDisk(world: World): Promise<Sandbox> {
  const disk = join(world.folder, 'disk')
  const image = join(world.folder, 'image')
  mkdirSync(disk)
  execFileSync('sh', ['-c', 'truncate -s 24M "$0" && mkfs.ext4 -q -m 0 "$0" && mount -o loop "$0" "$1"', image, disk])
  onTestFinished(() => void execFileSync('umount', [disk]))
  const provider = await world.newProvider(disk)
  return provider.create(world.spec({ hidden: [disk] }))
}

export const localSource: ProviderSource = {
  module: join(import.meta.dirname, 'index.ts'),
  factory: 'createLocalProvider',
  scope: 'workspace',
  network: () => ({ address: '127.0.0.1', shared: true }),
  onSmallDisk: process.getuid?.() === 0 ? onSmallDisk : null,
  traces: localTraces,
}
