import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endProcessesIn, unmountBelow } from './left-behind.ts'
import { suiteNeeding } from './needs.ts'

const isRoot = process.getuid?.() === 0
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'left-'))
})
afterEach(() => {
  unmountBelow(folder)
  rmSync(folder, { recursive: true, force: true })
})

/** Mounts in a namespace (`-m` for one of its own), says so, and lingers. */
async function mounting(...unshare: string[]) {
  const place = join(folder, 'place')
  const script = `mkdir "${place}" && mount -t tmpfs none "${place}" && echo mounted && exec sleep 1000`
  const child = spawn('unshare', [...unshare, 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return { place, child, gone: once(child, 'exit') }
}

suiteNeeding(['local'], 'what tests leave behind', () => {
  test.runIf(isRoot)('processes in a sandbox of the folder are ended and named', async () => {
    const { child, gone } = await mounting('-m')
    expect(endProcessesIn(folder)).toEqual([{ pid: child.pid, command: 'sleep 1000' }])
    await gone
    expect(endProcessesIn(folder)).toEqual([])
  })

  test.runIf(isRoot)('a mount among the machine’s own is taken away, and nobody who sees it is ended', async () => {
    const { place, child, gone } = await mounting()
    expect(endProcessesIn(folder)).toEqual([])
    expect(unmountBelow(folder)).toEqual([place])
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(folder)
    expect(child.exitCode).toBeNull()
    child.kill()
    await gone
  })
})
