import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import { temporaryFolder } from './store.fixture.ts'

suiteNeeding(['local'], 'a disk that is really full', () => {
  it('refuses what does not fit as DiskFullError, and keeps all that was committed before', () => {
    const folder = temporaryFolder()
    const fixture = fileURLToPath(new URL('./full-disk.fixture.ts', import.meta.url))
    // A file system of 2 MB that only the child sees and that goes with it.
    const script = 'mount -t tmpfs -o size=2m small "$1" && exec "$2" "$3" "$1/store.db"'
    const namespaces = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
    const child = spawnSync('unshare', [...namespaces, 'sh', '-c', script, 'sh', folder, process.execPath, fixture], {
      encoding: 'utf8',
    })
    expect(child.stderr).toBe('')
    expect(JSON.parse(child.stdout)).toEqual({ isDiskFull: true, countsAgree: true, first: 'kept' })
  })
})
