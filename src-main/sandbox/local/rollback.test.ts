/** Rollbacks that something goes wrong with: what is done stays done, what was stopped is said. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { RollbackFailedError } from '../../contract/index.ts'
import { type Box, World } from '../conformance/world.ts'
import { localSource } from './for-tests.ts'

async function made() {
  const world = await World.make(localSource)
  const box = await world.sandbox()
  return { world, box, folder: join(world.home, 'sandboxes', box.sandbox.id), point: await box.point() }
}

const running = async (box: Box): Promise<string[]> => (await box.sandbox.processes()).map(({ command }) => command)

async function collected(command: Awaited<ReturnType<Awaited<ReturnType<typeof made>>['box']['sandbox']['exec']>>) {
  const text = async (stream: 'stdout' | 'stderr') => Buffer.from(await command.read(stream, 0, 1000)).toString()
  const seen = { stdout: await text('stdout'), stderr: await text('stderr'), size: await command.size('stderr') }
  const folder = mkdtempSync(join(tmpdir(), 'rewind-collected-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await command.collect({ stdout: join(folder, 'out'), stderr: join(folder, 'err') })
  return seen
}

suiteNeeding(['local'], 'rollback under the local engine', () => {
  test('whatever an agent left in a run folder that was frozen, the rollback is done and the output is there', async () => {
    const { box, point } = await made()
    const command = 'd=/run/rewind/$REWIND_COMMAND; mkfifo "$d/pipe"; ln -s / "$d/link"; echo said; echo x >/tmp/x'
    const ended = await box.sandbox.exec({ id: 'frozen', command })
    await ended.ended
    await box.point()
    await box.back(point)
    expect(await collected(ended)).toMatchObject({ stdout: 'said\n' })
    expect(await box.say('[ ! -e /tmp/x ] && echo gone')).toBe('gone')
  })

  test('output that cannot be kept is said to be lost, and the rollback is done', async () => {
    const { box, folder, point } = await made()
    const doomed = await box.sandbox.exec({ id: 'doomed', command: 'echo said; echo x >f; echo x >/tmp/x' })
    await doomed.ended
    rmSync(join(folder, 'kept'), { recursive: true })
    writeFileSync(join(folder, 'kept'), '')
    expect((await box.back(point)).left.changed).toBe(true)
    const seen = await collected(doomed)
    expect(seen).toMatchObject({ stdout: '', stderr: expect.stringContaining('output of this command was not kept') })
    expect(seen.size).toBe(seen.stderr.length)
    expect(await box.say('ls; echo on')).toBe('on')
  })

  test('what cannot be written is noticed before anything is stopped', async () => {
    const { box, folder, point } = await made()
    await box.sandbox.exec({ id: 'server', command: 'echo x >f; exec sleep 300' })
    await expect.poll(() => running(box)).toEqual(['sleep 300'])
    mkdirSync(join(folder, 'state.json.new'))
    await expect(box.back(point)).rejects.toThrow('EISDIR')
    expect(await running(box)).toEqual(['sleep 300'])
    rmSync(join(folder, 'state.json.new'), { recursive: true })
    expect((await box.back(point)).stopped).toHaveLength(1)
  })

  test('one that fails later says what it stopped', async () => {
    const { box, folder, point } = await made()
    await box.write('f', 'x')
    const { workspace: layer } = await box.point()
    const later = await box.point()
    await box.back(point)
    await box.write('g', 'y')
    await box.sandbox.exec({ id: 'server', command: 'exec sleep 300' })
    await expect.poll(() => running(box)).toEqual(['sleep 300'])
    const path = join(folder, 'w', String(layer))
    renameSync(path, `${path}.aside`)
    writeFileSync(path, '')
    const error = await box.back(later).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(RollbackFailedError)
    expect(error).toMatchObject({
      message: expect.stringContaining('was stopped: sleep 300'),
      data: { stopped: [expect.objectContaining({ command: 'sleep 300' })] },
    })
    expect(await box.say('ls')).toBe('g')
    rmSync(path)
    renameSync(`${path}.aside`, path)
    expect((await box.back(later)).stopped).toEqual([])
    expect(await box.say('ls')).toBe('f')
  })
})
