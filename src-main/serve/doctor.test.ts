import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { examine } from './doctor.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rewind-doctor-'))
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const checkOf = async (name: string) => (await examine(folder)).find((check) => check.name === name)

describe('what a machine offers', () => {
  test('each thing is named once, and what is missing comes with a remedy', async () => {
    vi.stubEnv('PATH', folder)
    vi.stubEnv('REWIND_CHROMIUM', 'none')
    const checks = await examine(folder)
    expect(checks.map(({ name }) => name)).toEqual(['node', 'userns', 'browser', 'electron', 'busybox', 'data folder'])
    for (const { ok, remedy } of checks) expect(remedy !== null).toBe(!ok)
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['browser', 'busybox']),
    )
  })

  test('a busybox on PATH is found, a folder of that name is not', async () => {
    vi.stubEnv('PATH', `${folder}/none:${folder}`)
    expect(await checkOf('busybox')).toMatchObject({ ok: false })
    writeFileSync(join(folder, 'busybox'), '')
    chmodSync(join(folder, 'busybox'), 0o755)
    expect(await checkOf('busybox')).toMatchObject({ ok: true, detail: join(folder, 'busybox') })
  })

  test('the data folder says where it is and how much room there is', async () => {
    expect((await checkOf('data folder'))?.detail).toMatch(new RegExp(`^${folder} on .+, \\d+\\.\\d GB free$`))
  })
})
