/** The docker engine, as tests describe it: a data folder is its own store. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { ProviderSource, World } from '../conformance/world.ts'
import type { Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts'
import { createDockerProvider } from './provider.ts'

const storeOf = (home: string): string => createHash('sha256').update(home).digest('hex').slice(0, 32)

export const dockerForTests = ({ home }: { home: string }): SandboxProvider =>
  createDockerProvider({ home, storeId: storeOf(home) })

export const dockerSource = (scope: SandboxSpec['scope']): ProviderSource => ({
  module: join(import.meta.dirname, 'for-tests.ts'),
  factory: 'dockerForTests',
  scope,
  network: () => ({ address: networkInterfaces().docker0?.[0]?.address ?? '', shared: false }),
  onSmallDisk,
  traces: dockerTraces,
})

/** The volume is there already, in memory: docker makes no other one of that name. */
function onSmallDisk(world: World): Promise<Sandbox> {
  const spec = world.spec()
  const name = `rewind-${storeOf(world.home).slice(0, 12)}-${spec.id}`
  docker('volume', 'create', '-o', 'type=tmpfs', '-o', 'device=tmpfs', '-o', 'o=size=24m', name)
  return world.provider.create(spec)
}

/** Containers and volumes of a data folder, or of one of its sandboxes. */
function dockerTraces({ home }: { home: string }, id?: string): string[] {
  const labels = [`rewind.store=${storeOf(home)}`, ...(id === undefined ? [] : [`rewind.sandbox=${id}`])]
  const filters = labels.flatMap((label) => ['--filter', `label=${label}`])
  const found = docker('ps', '-aq', ...filters) + docker('volume', 'ls', '-q', ...filters)
  return found.split('\n').filter(Boolean)
}

/** What docker's own client says. */
export const docker = (...words: string[]): string => execFileSync('docker', words, { encoding: 'utf8' })
