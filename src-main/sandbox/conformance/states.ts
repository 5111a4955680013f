/** Checkpoint and rollback: what is frozen stays as it was, and everything goes back. */
import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { InvalidOptionError } from '../../contract/index.ts'
import { type Box, eventually, type ProviderSource, World } from './world.ts'

const tree = (box: Box): Promise<string> =>
  box.say('find . -mindepth 1 -printf "%P %y %m\\n" | sort; find . -type f | sort | xargs -d "\\n" -r cksum')

export function stateBehaviours(source: ProviderSource): void {
  test('rollback:two-hundred-in-a-row', { timeout: 240_000 }, async () => {
    const box = await (await World.make(source)).sandbox()
    const tree = 'find . /tmp/own | sort; find . /tmp/own -type f | sort | xargs -d "\\n" cksum'
    await box.say('mkdir -p d/e /tmp/own; for n in 1 2 3; do echo $n >f$n; echo $n >d/f$n; echo $n >d/e/f$n; done')
    const points = [{ state: await box.point(), tree: await box.say(tree) }]
    // By the numbers that the round gives: files and folders made, changed, moved and removed, and a process that holds.
    const edits = [
      'echo $0 >>f$(($0 % 3 + 1)); mkdir -p new/$0; echo $0 >new/$0/f',
      'rm -rf d/e; mkdir d/e; echo $0 >d/e/other',
      'mv d moved; mkdir d; mv moved/f1 d/g',
      'rm -rf ./*; echo $0 >/tmp/own/f',
      'ln -s f1 link; ln f2 second; chmod 700 d; (exec sleep 300 >>held) & :',
    ]
    for (let round = 0; round < 200; round++) {
      await box.run(['sh', '-c', edits[(round * 7) % edits.length] ?? '', String(round)])
      const to = points[(round * 5) % points.length]
      if (to === undefined) throw new Error('there is one')
      const { left } = await box.back(to.state)
      if (round % 40 === 0) {
        await box.back(left.state)
        points.push({ state: left.state, tree: await box.say(tree) })
        await box.back(to.state)
      }
      expect(await box.say(tree), `round ${round}`).toBe(to.tree)
    }
  })

  test('checkpoint:unchanged-shares-the-state', async () => {
    const box = await (await World.make(source)).sandbox()
    const { baseState } = box.sandbox.facts
    expect(await box.sandbox.checkpoint('a')).toEqual({ state: baseState, changed: false, bytes: 0 })
    await box.say('ls -la; cat /etc/hostname')
    expect(await box.sandbox.checkpoint('b')).toEqual({ state: baseState, changed: false, bytes: 0 })
    await box.write('f', 'x')
    const changed = await box.sandbox.checkpoint('c')
    expect(changed.changed).toBe(true)
    expect(changed.state.workspace).not.toBe(baseState.workspace)
    expect(changed.state.machine).toEqual(baseState.machine)
    expect(await box.sandbox.checkpoint('d')).toEqual({ state: changed.state, changed: false, bytes: 0 })
    expect((await box.sandbox.status()).head).toEqual(changed.state)
  })

  test('checkpoint:keeps-the-root-folder-as-it-was', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.say('echo x >f; chmod 751 .; touch -d "2020-01-02 03:04:05" .')
    const before = await box.say('stat -c "%a %u %Y" .')
    await box.point()
    expect(await box.say('stat -c "%a %u %Y" .')).toBe(before)
  })

  test('operation:the-same-id-answers-the-same', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.write('f', '1')
    const first = await box.sandbox.checkpoint('once')
    await box.write('f', '2')
    expect(await box.sandbox.checkpoint('once')).toEqual(first)
    const back = await box.sandbox.rollback('back', first.state)
    await box.write('f', '3')
    expect(await box.sandbox.rollback('back', first.state)).toEqual(back)
    expect(await box.read('f')).toBe('3')
    expect((await box.sandbox.status()).operations.get('once')).toEqual({ kind: 'checkpoint', outcome: first })
    await expect(box.sandbox.checkpoint('back')).rejects.toBeInstanceOf(InvalidOptionError)
  })

  test('rollback:restores-deleted-file', async () => {
    const world = await World.make(source)
    world.host('keep/me.txt', 'precious')
    const box = await world.sandbox()
    const point = await box.point()
    await box.say('rm -rf keep')
    await box.back(point)
    expect(await box.read('keep/me.txt')).toBe('precious')
  })

  test('rollback:restores-the-whole-tree', async () => {
    const world = await World.make(source)
    for (const name of ['a', 'd/b', 'd/e/c']) world.host(name, name)
    const box = await world.sandbox()
    await box.say('echo one >a; mkdir new; echo n >new/n; chmod 700 d; ln -s a l; rm d/b')
    const before = await tree(box)
    const point = await box.point()
    await box.say('rm -rf d l; mkdir d; echo other >d/other; mv new newer; chmod 600 a; rm a; mkdir a; echo x >a/x')
    expect(await tree(box)).not.toBe(before)
    await box.back(point)
    expect(await tree(box)).toBe(before)
  })

  test('rollback:is-undone-by-what-was-left', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.write('f', 'point')
    const point = await box.point()
    await box.say('echo later >f; echo later >/tmp/f')
    const { left } = await box.back(point)
    expect(left.changed).toBe(true)
    expect(await box.read('f')).toBe('point')
    expect(await box.read('f', left.state)).toBe('later\n')
    await box.back(left.state)
    expect(await box.say('cat f /tmp/f')).toBe('later\nlater')
  })

  test('rollback:unchanged-leaves-the-head', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.write('f', 'x')
    const point = await box.point()
    const { left, stopped } = await box.back(box.sandbox.facts.baseState)
    expect({ left, stopped }).toEqual({ left: { state: point, changed: false, bytes: 0 }, stopped: [] })
    expect(await box.say('ls -A')).toBe('')
    await box.back(point)
    expect(await box.read('f')).toBe('x')
  })

  test('rollback:machine-layer-goes-back', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.say('for d in /tmp /dev/shm ~; do echo point >"$d/file"; echo gone >"$d/doomed"; done')
    const point = await box.point()
    await box.say('for d in /tmp /dev/shm ~; do echo later >"$d/file"; rm "$d/doomed"; mkdir "$d/more"; done')
    await box.back(point)
    expect(
      await box.say('for d in /tmp /dev/shm ~; do cat "$d/file" "$d/doomed"; ls -d "$d/more" 2>/dev/null; done; :'),
    ).toBe('point\ngone\npoint\ngone\npoint\ngone')
  })

  test('rollback:ten-rounds', async () => {
    const world = await World.make(source)
    world.host('f', '0')
    const box = await world.sandbox()
    const points = [box.sandbox.facts.baseState]
    for (let round = 1; round <= 10; round++) {
      await box.say(`echo ${round} >f; echo ${round} >f${round}; echo ${round} >/tmp/f`)
      points.push(await box.point())
    }
    for (const round of [3, 10, 0, 7, 1, 9, 2, 8, 5, 6]) {
      const point = points[round]
      if (point) await box.back(point)
      const names = Array.from({ length: round }, (_, at) => `f${at + 1}`).sort()
      expect(await box.say('ls; cat f')).toBe(['f', ...names, round].join('\n'))
      expect(await box.say('cat /tmp/f 2>/dev/null || echo 0')).toBe(String(round))
    }
  })

  test('rollback:stops-and-lists-processes', async () => {
    const box = await (await World.make(source)).sandbox()
    const point = await box.point()
    const server = await box.sandbox.exec({ id: 'server', command: 'echo up; sleep 300 & exec sleep 301' })
    await box.run('setsid sleep 302 >/dev/null 2>&1 &')
    await eventually('all run', async () => {
      return (await box.sandbox.processes()).filter(({ command }) => command.startsWith('sleep')).length === 3
    })
    const { stopped } = await box.back(point)
    expect(stopped.map(({ command }) => command).sort()).toEqual(['sleep 300', 'sleep 301', 'sleep 302'])
    expect(await server.ended).toMatchObject({ status: 'cancelled' })
    expect(await box.sandbox.processes()).toEqual([])
    expect(Buffer.from(await server.read('stdout', 0, 100)).toString()).toBe('up\n')
  })

  test('rollback:output-of-ended-commands-stays', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    const point = await box.point()
    const done = await box.sandbox.exec({ id: 'done', command: 'echo said; echo x >/tmp/x' })
    await done.ended
    await box.back(point)
    await done.collect({ stdout: join(world.folder, 'out'), stderr: join(world.folder, 'err') })
    expect(readFileSync(join(world.folder, 'out'), 'utf8')).toBe('said\n')
    expect(await box.sandbox.commands()).toEqual([])
  })

  test('rollback:unknown-state-is-refused', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.write('f', 'x')
    await expect(box.back({ workspace: 999, machine: 0 })).rejects.toBeInstanceOf(InvalidOptionError)
    expect(await box.read('f')).toBe('x')
  })

  test('checkpoint:under-a-live-writer-is-constant', async () => {
    const box = await (await World.make(source)).sandbox()
    const writer = 'exec 3>>open.log; while :; do n=$((n+1)); echo $n >&3; echo $n >count; echo $n >>/tmp/log; done'
    const running = await box.sandbox.exec({ id: 'writer', command: writer })
    await eventually('it writes', async () => (await box.say('cat open.log 2>/dev/null | wc -l')) !== '0')
    const first = await box.sandbox.checkpoint('live')
    expect(first.changed).toBe(true)
    const frozen = await box.read('open.log', first.state)
    await sleep(200)
    expect(await box.read('open.log', first.state)).toBe(frozen)
    expect((await box.read('open.log')).length).toBeGreaterThan(frozen.length)
    const second = await box.point()
    expect((await box.read('open.log', second)).length).toBeGreaterThan(frozen.length)
    await running.kill('cancelled')
    await box.back(first.state)
    expect(await box.read('open.log')).toBe(frozen)
    await box.back(second)
    expect(await box.read('open.log')).toBe(await box.read('open.log', second))
  })

  test('checkpoint:live-processes-go-on', async () => {
    const box = await (await World.make(source)).sandbox()
    const running = await box.sandbox.exec({ id: 'sleeper', command: 'echo x >f; sleep 1; echo end; exit 5' })
    await eventually('it began', async () => (await box.say('cat f 2>/dev/null; :')) === 'x')
    await box.point()
    expect(await running.ended).toMatchObject({ status: 'exited', code: 5 })
    expect(Buffer.from(await running.read('stdout', 0, 10)).toString()).toBe('end\n')
    expect((await box.sandbox.checkpoint('after')).changed).toBe(false)
  })

  test('changes:between-any-two-states', async () => {
    const world = await World.make(source)
    for (const name of ['same', 'changed', 'deleted']) world.host(name, name)
    const box = await world.sandbox()
    await box.say('echo x >changed; rm deleted; mkdir d; echo y >d/added; touch same')
    const letters = async (from: Parameters<Box['sandbox']['changes']>[0], to: typeof from): Promise<string[]> =>
      (await box.sandbox.changes(from, to)).map(({ path, status }) => `${status} ${path}`)
    const expected = ['modified changed', 'added d', 'added d/added', 'deleted deleted']
    expect(await letters(box.sandbox.facts.baseState, 'now')).toEqual(expected)
    const point = await box.point()
    expect(await letters(box.sandbox.facts.baseState, point)).toEqual(expected)
    expect(await letters(point, 'now')).toEqual([])
    const pair = await box.sandbox.pair(Buffer.from('changed'), box.sandbox.facts.baseState, 'now', 1 << 20)
    expect(pair).toEqual({ kind: 'text', before: 'changed', after: 'x\n' })
  })

  test('base:live-and-copy', async () => {
    const world = await World.make(source)
    world.host('f', 'before')
    const live = await world.sandbox({ base: 'live' })
    const copy = await world.sandbox({ base: 'copy' })
    expect([live.sandbox.facts.base, copy.sandbox.facts.base]).toEqual(['live', 'copy'])
    writeFileSync(join(world.workspace, 'f'), 'host edit')
    expect([await live.read('f'), await copy.read('f')]).toEqual(['host edit', 'before'])
  })

  test('concurrent:operations-and-commands', async () => {
    const box = await (await World.make(source)).sandbox()
    const rounds = Array.from({ length: 8 }, (_, at) => at)
    await Promise.all([
      ...rounds.map((at) => box.say(`for i in 1 2 3 4 5; do echo ${at} >>log${at}; done`)),
      ...rounds.map((at) => box.write(`w${at}`, String(at))),
      ...rounds.map(() => box.sandbox.checkpoint(randomUUID())),
    ])
    const point = await box.point()
    for (const at of rounds) {
      expect(await box.read(`log${at}`, point)).toBe(`${at}\n`.repeat(5))
      expect(await box.read(`w${at}`, point)).toBe(String(at))
    }
  })

  test('usage:counts-what-is-held', async () => {
    const box = await (await World.make(source)).sandbox()
    for (const name of ['big', 'again', 'once-more']) {
      const before = await box.sandbox.usage()
      await box.say(`head -c 3000000 /dev/urandom >${name}`)
      await box.point()
      expect((await box.sandbox.usage()) - before, name).toBeGreaterThan(2_900_000)
    }
  })

  test('ended:states-can-still-be-read', async () => {
    const world = await World.make(source)
    world.host('f', 'base')
    const box = await world.sandbox()
    await box.write('f', 'x')
    const point = await box.point()
    expect(box.sandbox.ended).toBe(false)
    await box.sandbox.end()
    await box.sandbox.end()
    const opened = await world.provider.open(box.sandbox.id)
    // A host that died right after it ended a sandbox is followed by one that attaches.
    const attached = await world.provider.attach(box.sandbox.id)
    for (const sandbox of [box.sandbox, opened, attached]) {
      expect({ ended: sandbox.ended, losses: sandbox.losses }).toEqual({ ended: true, losses: [] })
      expect(Buffer.from(await sandbox.readFile('f', point)).toString()).toBe('x')
      expect(await sandbox.changes(sandbox.facts.baseState, point)).toMatchObject([{ path: 'f', status: 'modified' }])
      await expect(sandbox.exec({ id: 'late', command: 'true' })).rejects.toThrow(/ended/)
    }
  })

  test('state:many-entries-at-once', async () => {
    const box = await (await World.make(source)).sandbox()
    await box.say('mkdir many; cd many; i=0; while [ $i -lt 3000 ]; do echo $i >f$i; i=$((i+1)); done')
    const point = await box.point()
    await box.say('rm -rf many')
    await box.back(point)
    expect(await box.say('ls many | wc -l; cat many/f2999')).toBe('3000\n2999')
  })

  test('workspace:modes-that-close-it', async () => {
    const world = await World.make(source)
    const box = await world.sandbox()
    await box.say('mkdir closed; echo x >closed/f; chmod 000 closed')
    const point = await box.point()
    await box.say('chmod 700 closed; rm -r closed')
    await box.back(point)
    expect(await box.say('stat -c %a closed')).toBe('0')
    mkdirSync(join(world.folder, 'other'))
    await box.sandbox.destroy()
    expect(lstatSync(world.workspace).isDirectory()).toBe(true)
  })
}
