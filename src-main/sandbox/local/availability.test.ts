/** Machines on which the engine cannot run, made for real: what is said, and that nothing runs. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { World } from '../conformance/world.ts'
import { localSource } from './for-tests.ts'

const isRoot = process.getuid?.() === 0

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'rewind-available-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  chmodSync(path, 0o755)
  return path
}

/** What a host says that runs as an ordinary user where no further user namespace can be made. */
function whereNamespacesAreShut(home: string, workspace: string): Record<string, unknown> {
  const script = `
    import { createLocalProvider } from ${JSON.stringify(localSource.module)}
    const [home, workspace] = process.argv.slice(1)
    const provider = createLocalProvider({ home })
    const spec = { id: 'new', workspace, base: 'auto', network: true, image: null, scope: 'workspace', env: {}, hidden: [home] }
    const error = await provider.create(spec).then(() => null, ({ code, message, nextStep }) => ({ code, message, nextStep }))
    const list = await provider.list()
    const removed = await provider.remove('stray')
    console.log(JSON.stringify({ available: await provider.available(), error, list, removed }))`
  const shut = 'echo 1 >/proc/sys/user/max_user_namespaces; exec unshare -U --map-user=1000 --map-group=1000 "$@"'
  const node = [process.execPath, '--input-type=module', '-e', script, home, workspace]
  const said = execFileSync('unshare', ['-U', '-r', 'sh', '-c', shut, 'sh', ...node], { encoding: 'utf8' })
  return JSON.parse(said) as Record<string, unknown>
}

suiteNeeding(['local'], 'where the local engine cannot run', () => {
  test('user namespaces are shut: the remedy is named, nothing is made, and what is left is still removed', () => {
    const home = folder()
    const workspace = folder()
    mkdirSync(join(home, 'sandboxes', 'stray', 'w'), { recursive: true })
    const { available, error, list, removed } = whereNamespacesAreShut(home, workspace)
    const remedy = expect.stringContaining('sysctl -w user.max_user_namespaces')
    expect(available).toMatchObject({ ok: false, reason: expect.stringContaining('No space left'), remedy })
    expect(error).toMatchObject({ code: 'ENGINE_UNAVAILABLE', nextStep: remedy })
    expect({ list, removed }).toEqual({ list: ['stray'], removed: null })
    expect(readdirSync(join(home, 'sandboxes'))).toEqual([])
  })

  // An overlay of the test's own can only be mounted as root.
  test.runIf(isRoot)('a data folder that no layer can lie on is refused, and nothing is left there', async () => {
    const world = await World.make(localSource)
    const data = onOverlay()
    const provider = await world.newProvider(data)
    const remedy = expect.stringContaining('Set REWIND_HOME')
    expect(await provider.available()).toMatchObject({ ok: false, remedy })
    await expect(provider.create(world.spec())).rejects.toMatchObject({ nextStep: remedy })
    expect(readdirSync(join(data, 'sandboxes'))).toEqual([])
  })

  test.runIf(isRoot)('a workspace that cannot be a layer is copied, and that is said', async () => {
    const world = await World.make(localSource)
    const workspace = onOverlay()
    const box = await world.sandbox({ workspace })
    expect(box.sandbox.facts).toMatchObject({
      base: 'copy',
      notes: [expect.stringContaining('The workspace was copied: it lies on an overlay')],
    })
    await expect(world.sandbox({ workspace, base: 'live' })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

/** A folder on an overlay, which itself lies on an overlay's layers as far as the kernel allows. */
function onOverlay(): string {
  const base = folder()
  for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(join(base, name))
  const options = `lowerdir=${base}/lower,upperdir=${base}/upper,workdir=${base}/work`
  execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, join(base, 'merged')])
  onTestFinished(() => void execFileSync('umount', [join(base, 'merged')]))
  return join(base, 'merged')
}
