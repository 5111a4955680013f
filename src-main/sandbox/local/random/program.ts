/**
 * A random program against one sandbox: edits, live processes, checkpoints, rewinds, prunes, edits of the host, hosts
 * and control shells that are killed in the middle. After every step the sandbox must be what the twins are, every point
 * that is kept what it was when it was taken, and no frozen layer may have changed but by folding.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Change } from '../../../contract/index.ts'
import { pruneCrashPoints, shellCrashPoints } from '../../../store/index.ts'
import { type Box, eventually, type World } from '../../conformance/world.ts'
import { bruteForce, described, type Tree, treeOf } from '../../layers/brute-force.ts'
import { copyTree } from '../../layers/edit.ts'
import { createLayerReader, type LayerFolder, type LayerReader } from '../../layers/index.ts'
import { Overlay } from '../../layers/overlay-for-tests.ts'
import { below, Editor, pick, type Random, random } from '../../layers/random-edits.ts'
import type { FilesState, RunningCommand } from '../../sandbox.ts'
import { createLocalProvider } from '../index.ts'
import { readProcess } from '../processes.ts'
import { StateFile } from '../state.ts'
import { controlShellOf, viewOf } from '../view-for-tests.ts'
import { Area, isForeign, ours } from './area.ts'
import type { Operation } from './other-host.ts'

const OVERLAYS = ['workspace', 'machine'] as const
const OTHER_HOST = join(import.meta.dirname, 'other-host.ts')
/** Points above this are pruned, as looking at all of them is what a step costs. */
const MANY_POINTS = 12
/** In which runs of layers that are written together are named by the state again, on a loaded machine too. */
const FOLDING_MS = 10_000
/** More than are mounted as one folder each. */
const BURST = 70

interface Point {
  state: FilesState
  trees: Record<(typeof OVERLAYS)[number], Tree>
  saved: Record<(typeof OVERLAYS)[number], string>
  /** Files of live processes, by their bytes; null until the point was looked at for the first time. */
  live: string[] | null
  /** Host folders that the sandbox had moved to places of its own. */
  taken: string[]
}

/** How an operation is disturbed. */
type Disturbance =
  | 'none'
  | 'shell killed'
  | 'holder killed'
  | 'host killed'
  | 'host killed at a crash point'
  | 'shell killed at a crash point'

export class Program {
  readonly world: World
  readonly #random: Random
  readonly #asRoot = process.getuid?.() === 0
  readonly #mounts: Overlay
  /** Not the sandbox's own: it has kept nothing. */
  readonly #reader: LayerReader
  readonly #story: string[] = []
  readonly #hashes = new Map<string, string>()
  readonly #processes = new Map<string, RunningCommand>()
  readonly #live: boolean
  box: Box
  #areas: readonly Area[] = []
  #points: Point[] = []
  #left: Point | null = null
  #taken: string[] = []
  #host: Editor | null = null
  /** False while a folder of its own that was moved in the sandbox is not frozen yet: it shows what the host does. */
  #hostMayEdit = false
  #count = 0

  private constructor(world: World, box: Box, random: Random, live: boolean) {
    this.world = world
    this.box = box
    this.#random = random
    this.#live = live
    this.#mounts = new Overlay(this.#asRoot ? 'root' : 'user')
    this.#reader = createLayerReader({ opaqueXattr: this.#mounts.opaqueXattr })
  }

  /** @param base `live`: the host edits its own folders in between */
  static async begin(world: World, seed: number, base: 'copy' | 'live'): Promise<Program> {
    const numbers = random(seed)
    const asRoot = process.getuid?.() === 0
    const filler = new Editor(world.workspace, numbers, asRoot)
    filler.fill()
    let host: Editor | null = null
    if (base === 'live') {
      fs.mkdirSync(join(world.workspace, 'theirs'))
      host = new Editor(join(world.workspace, 'theirs'), numbers, asRoot)
      host.fill()
    }
    const program = new Program(world, await world.sandbox({ base }), numbers, base === 'live')
    program.#host = host
    program.#areas = OVERLAYS.map((overlay) => {
      const workspace = overlay === 'workspace'
      return new Area({
        overlay,
        within: workspace ? '' : 'shm',
        folder: join(world.folder, `twin-${overlay}`),
        view: () => program.#viewOf(workspace ? world.workspace : '/dev/shm'),
        random: numbers,
        ownersToo: asRoot,
        tell: (line) => program.#story.push(`  ${line}`),
      })
    })
    program.#points.push(await program.#pointNow(box0(program)))
    return program
  }

  /** Ends what the program has outside of the sandbox. */
  async end(): Promise<void> {
    await this.#mounts.remove()
  }

  get story(): string {
    return this.#story.join('\n')
  }

  get folder(): string {
    return join(this.world.home, 'sandboxes', this.box.sandbox.id)
  }

  async step(): Promise<void> {
    const what = this.#random()
    if (what < 0.12) await this.#startProcess()
    else if (what < 0.2) await this.#stopProcess()
    else if (what < 0.27) this.#takeHostFolder()
    else if (what < 0.35) this.#hostEdits()
    else if (what < 0.4) await this.#writeFromOutside()
    else if (what < 0.44) await this.#changeHosts()
    else if (what < 0.46) await this.#burst()
    for (const area of this.#areas) {
      if (area.overlay === 'workspace' || this.#random() < 0.3) area.edit(1 + below(this.#random, 8))
    }
    const operation = this.#random()
    if (operation < 0.55) await this.#checkpoint()
    else if (operation < 0.8) await this.#rollback(pick(this.#random, this.#points))
    else if (operation < 0.88) await this.#rollback(this.#left ?? undefined)
    if (this.#points.length > MANY_POINTS || this.#random() < 0.25) await this.#prune()
    await this.#check()
  }

  /** Everything is freed that the kept points do not need. */
  async finish(): Promise<void> {
    for (const id of [...this.#processes.keys()]) await this.#stopProcess(id)
    const { waits } = await this.box.sandbox.prune(this.#points.map(({ state }) => state))
    expect(waits, 'nothing holds the layers').toBe(false)
    this.#hashes.clear()
    await this.#check()
    const { head } = await this.box.sandbox.status()
    for (const [overlay, folder] of [
      ['workspace', 'w'],
      ['machine', 'm'],
    ] as const) {
      const states = [head, ...this.#points.map(({ state }) => state)]
      const needed = new Set(states.flatMap((state) => Object.values(this.#layersOf(state, overlay)).flat()))
      for (const number of new StateFile(this.folder).read()[overlay].lowers) needed.add(number)
      // The live layer and the next one; and what is written as one meanwhile, which the state does not name yet.
      const idle = () =>
        fs.readdirSync(join(this.folder, folder)).filter((name) => /^\d+$/.test(name) && !needed.has(Number(name)))
      await expect.poll(() => idle().length, { message: folder }).toBeLessThanOrEqual(4)
    }
  }

  // -- what stands ------------------------------------------------------------------------------------------------

  #views = { shell: 0, generation: 0 }

  #viewOf(inside: string): string {
    const known = `/proc/${this.#views.shell}/root/run/m${inside}`
    if (this.#views.shell > 0 && fs.existsSync(known)) return known
    this.#views = { ...this.#views, shell: controlShellOf(this.folder) ?? 0 }
    return viewOf(this.folder, inside)
  }

  #trees(): Point['trees'] {
    const [workspace, machine] = this.#areas.map((area) => area.tree())
    if (workspace === undefined || machine === undefined) throw new Error('two areas are edited')
    return { workspace, machine }
  }

  #pointNow(state: FilesState, live: string[] | null = []): Point {
    const [workspace = '', machine = ''] = this.#areas.map((area) => area.save())
    return { state, trees: this.#trees(), saved: { workspace, machine }, live, taken: [...this.#taken] }
  }

  /** Files that processes in the sandbox write. */
  #liveFiles(folder: string): string[] {
    const names = fs.readdirSync(folder, { encoding: 'latin1' }).filter((name) => name.startsWith('live-'))
    return names.sort().map((name) => {
      const bytes = fs.readFileSync(join(folder, name))
      if (name.startsWith('live-log')) {
        const lines = bytes.toString().split('\n')
        expect(lines, 'whole lines, none missing').toEqual([...lines.slice(0, -1).map((_, at) => `line ${at + 1}`), ''])
      }
      return `${name} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
    })
  }

  #expectView(): void {
    for (const area of this.#areas)
      expect(area.seen(area.view), `what stands: ${area.overlay}`).toEqual(described(area.tree()))
  }

  // -- steps ------------------------------------------------------------------------------------------------------

  async #startProcess(): Promise<void> {
    if (this.#processes.size > 1) return
    const id = `p${++this.#count}`
    const kinds = {
      holder: `exec 3>>live-held-${id}; echo x >&3; exec sleep 300`,
      standing: `echo x >live-held-${id}; exec sleep 300`,
      writer: `exec python3 -c '
import mmap, time
log = open("live-log-${id}", "a", buffering=1)
file = open("live-map-${id}", "w+b")
file.truncate(4096)
shared = mmap.mmap(file.fileno(), 4096)
at = 0
open("live-held-${id}", "w").write("x")
while True:
    at += 1
    log.write(f"line {at}\\n")
    shared[:4] = at.to_bytes(4, "big")
    time.sleep(0.004)'`,
    }
    const kind = pick(this.#random, Object.keys(kinds) as (keyof typeof kinds)[]) ?? 'holder'
    const inShm = this.#random() < 0.3
    const cwd = inShm ? '/dev/shm' : this.world.workspace
    this.#story.push(`process ${id}: ${kind} in ${cwd}`)
    this.#processes.set(id, await this.box.sandbox.exec({ id, command: kinds[kind], cwd }))
    const held = () => join(this.#viewOf(cwd), `live-held-${id}`)
    await eventually('it runs', () => fs.existsSync(held()) && fs.statSync(held()).size > 0)
  }

  async #stopProcess(id = pick(this.#random, [...this.#processes.keys()])): Promise<void> {
    if (id === undefined) return
    this.#story.push(`process ${id} is stopped`)
    await this.#processes.get(id)?.kill('cancelled')
    this.#processes.delete(id)
  }

  #forgetProcesses(): void {
    this.#processes.clear()
  }

  /** The sandbox moves one of the host's folders among its own. */
  #takeHostFolder(): void {
    if (this.#host === null) return
    const theirs = join(this.world.workspace, 'theirs')
    const folders = fs
      .readdirSync(theirs, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !this.#taken.includes(entry.name) && !entry.name.includes('\ufffd'))
    const name = pick(this.#random, folders.map((entry) => entry.name).sort())
    if (name === undefined) return
    const to = `taken-${++this.#count}`
    this.#story.push(`the sandbox moves theirs/${JSON.stringify(name)} to ${to}`)
    const [area] = this.#areas
    if (area === undefined) return
    copyTree(Buffer.from(join(theirs, name)), Buffer.from(join(area.twin, to)))
    const at = (path: string) => join(area.view, path)
    try {
      fs.renameSync(at(`theirs/${name}`), at(to))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
      copyTree(Buffer.from(at(`theirs/${name}`)), Buffer.from(at(to)))
      fs.rmSync(at(`theirs/${name}`), { recursive: true })
    }
    this.#taken.push(name)
    this.#hostMayEdit = false
  }

  #hostEdits(): void {
    if (this.#host === null || !this.#hostMayEdit) return
    this.#story.push('the host edits')
    for (let count = 1 + below(this.#random, 8); count > 0; count--) this.#host.edit()
  }

  /** Through the sandbox's own interface. */
  async #writeFromOutside(): Promise<void> {
    const [area] = this.#areas
    if (area === undefined) return
    const name = `live-outside-${++this.#count}`
    this.#story.push(`written from outside: ${name}`)
    await this.box.write(name, name)
    expect(await this.box.read(name)).toBe(name)
  }

  /** Another host takes it over, with its processes. */
  async #changeHosts(): Promise<void> {
    this.#story.push('another host')
    await this.box.sandbox.detach()
    await this.#attach()
  }

  async #attach(): Promise<void> {
    this.box = this.world.box(await createLocalProvider({ home: this.world.home }).attach(this.box.sandbox.id))
    const alive = new Map((await this.box.sandbox.commands()).map((command) => [command.id, command]))
    for (const id of [...this.#processes.keys()]) {
      const command = alive.get(id)
      const runs = command !== undefined && (await Promise.race([command.ended.then(() => false), sleep(0, true)]))
      if (runs) this.#processes.set(id, command)
      else this.#processes.delete(id)
    }
  }

  /** More points than are mounted as folders of their own, which nobody keeps: runs of layers are made one on the way. */
  async #burst(): Promise<void> {
    this.#story.push(`${BURST} points in a row`)
    for (let n = 0; n < BURST; n++) {
      this.#areas[0]?.edit(1)
      await this.box.sandbox.checkpoint(randomUUID())
    }
  }

  async #checkpoint(): Promise<void> {
    this.#expectView()
    const id = randomUUID()
    const alone = this.#processes.size === 0
    const live = alone ? this.#allLiveFiles() : null
    const { head } = await this.box.sandbox.status()
    if (!(await this.#operate({ kind: 'checkpoint', id }))) return
    const done = (await this.box.sandbox.status()).operations.get(id)
    if (done?.kind !== 'checkpoint') throw new Error('the checkpoint is not among the operations')
    expect(await this.box.sandbox.checkpoint(id), 'asked again').toEqual(done.outcome)
    const point = this.#pointNow(done.outcome.state, live)
    const before = this.#points.find(({ state }) => sameState(this.#resolved(state), head))
    if (!done.outcome.changed && before !== undefined) {
      for (const overlay of OVERLAYS) expect(described(point.trees[overlay])).toEqual(described(before.trees[overlay]))
    }
    this.#points.push(point)
    this.#expectView()
    if (this.#processes.size === 0) this.#hostMayEdit = true
  }

  async #rollback(to: Point | undefined): Promise<void> {
    if (to === undefined || !this.#points.includes(to)) return
    this.#expectView()
    const id = randomUUID()
    const live = this.#processes.size === 0 ? this.#allLiveFiles() : null
    if (!(await this.#operate({ kind: 'rollback', id, to: to.state }))) return
    const done = (await this.box.sandbox.status()).operations.get(id)
    if (done?.kind !== 'rollback') throw new Error('the rewind is not among the operations')
    this.#forgetProcesses()
    const left = this.#pointNow(done.outcome.left.state, live)
    this.#points.push(left)
    this.#left = left
    for (const area of this.#areas) area.restore(to.saved[area.overlay])
    this.#taken = [...to.taken]
    this.#expectView()
    if (to.live !== null) expect(this.#allLiveFiles(), 'files of processes').toEqual(to.live)
    this.#hostMayEdit = true
  }

  async #prune(): Promise<void> {
    const kept = this.#points.filter((_, at) => at === this.#points.length - 1 || this.#random() < 0.5)
    this.#expectView()
    const still = this.#untouchedBy([...kept.map(({ state }) => state), (await this.box.sandbox.status()).head])
    await this.#operate({ kind: 'prune', id: '', kept: kept.map(({ state }) => state) })
    this.#points = kept
    for (const path of this.#hashes.keys()) if (!still.has(path)) this.#hashes.delete(path)
    this.#expectView()
    if (this.#random() < 0.5) for (const point of this.#points) point.state = this.#resolved(point.state)
  }

  /**
   * Layers that no prune to these states may touch: only what no state ends at is made one with what stands on it. A
   * layer that stands on such a one may be left half moved, where that was interrupted or lies too deep.
   */
  #untouchedBy(states: readonly FilesState[]): Set<string> {
    const still = new Set<string>()
    for (const area of this.#areas) {
      const stacks = states.map((state) => this.#layersOf(state, area.overlay).chain)
      const ends = new Set([0, ...stacks.map(([top]) => top)])
      for (const stack of stacks)
        for (const [at, number] of stack.entries())
          if (ends.has(number) && ends.has(stack[at + 1] ?? 0)) still.add(this.#layer(area, number))
    }
    return still
  }

  // -- operations, disturbed --------------------------------------------------------------------------------------

  /** @returns whether it was done */
  async #operate(operation: Operation): Promise<boolean> {
    const disturbance = this.#disturbance(operation)
    const kept = operation.kind === 'prune' ? ` keeping ${operation.kept.map(({ workspace }) => `[${workspace}]`)}` : ''
    const to = operation.kind === 'rollback' ? ` to [${operation.to.workspace}]` : ''
    this.#story.push(`${operation.kind}${to}${kept}, ${disturbance}`)
    switch (disturbance) {
      case 'none':
        await this.#act(operation)
        return true
      case 'shell killed':
      case 'holder killed':
        return this.#actWhileKilling(
          operation,
          disturbance === 'shell killed' ? controlShellOf(this.folder) : this.#holder,
        )
      default:
        return this.#actElsewhere(operation, disturbance)
    }
  }

  #disturbance({ kind }: Operation): Disturbance {
    const what = this.#random()
    if (what < 0.8) return 'none'
    if (what < 0.87) return 'shell killed'
    if (what < 0.9) return 'holder killed'
    if (what < 0.95) return 'host killed'
    return kind === 'prune' ? 'host killed at a crash point' : 'shell killed at a crash point'
  }

  async #act(operation: Operation): Promise<void> {
    const { sandbox } = this.box
    if (operation.kind === 'checkpoint') await sandbox.checkpoint(operation.id)
    else if (operation.kind === 'rollback') await sandbox.rollback(operation.id, operation.to)
    else {
      const { waits } = await sandbox.prune(operation.kept)
      expect(waits && this.#processes.size === 0, 'nothing holds the layers').toBe(false)
    }
  }

  get #holder(): number | null {
    return new StateFile(this.folder).read().holder?.pid ?? null
  }

  /** Whatever it says, either it was done or nothing was. */
  async #actWhileKilling(operation: Operation, victim: number | null): Promise<boolean> {
    const killing = sleep(below(this.#random, 12)).then(() => {
      if (victim !== null) process.kill(victim, 'SIGKILL')
    })
    let error: unknown = null
    await this.#act(operation).catch((reason: unknown) => {
      error = reason
    })
    await killing.catch((reason: NodeJS.ErrnoException) => {
      if (reason.code !== 'ESRCH') throw reason
    })
    if (error !== null) this.#story.push(`  it said: ${String(error)}`)
    await eventually('it is dead', () => (readProcess(victim ?? 0)?.state ?? 'Z') === 'Z')
    // The next use finds out, and puts everything back.
    await this.box.say('true')
    await this.#seeWhoIsLeft()
    return this.#wasDone(operation, error === null)
  }

  async #actElsewhere(operation: Operation, disturbance: Disturbance): Promise<boolean> {
    await this.box.sandbox.detach()
    const env: NodeJS.ProcessEnv = { ...process.env }
    const points =
      operation.kind === 'prune' ? pruneCrashPoints : shellCrashPoints.filter((name) => name.includes(operation.kind))
    if (disturbance.endsWith('crash point')) {
      env.REWIND_CRASH_AT = pick(this.#random, points) ?? ''
      this.#story.push(`  armed: ${env.REWIND_CRASH_AT}`)
    }
    const args = [OTHER_HOST, this.world.home, this.box.sandbox.id, JSON.stringify(operation)]
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const said = this.#collect(child)
    const exit = once(child, 'exit')
    if (disturbance === 'host killed') {
      await Promise.race([once(child.stdout ?? child, 'data'), exit])
      await sleep(below(this.#random, 40))
      child.kill('SIGKILL')
    }
    await exit
    if (child.exitCode !== 0 && child.signalCode !== 'SIGKILL') throw new Error(`the other host: ${said()}`)
    await this.#attach()
    await this.#seeWhoIsLeft()
    return this.#wasDone(operation, child.exitCode === 0)
  }

  #collect(child: ChildProcess): () => string {
    let text = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk
    })
    return () => text
  }

  async #wasDone(operation: Operation, said: boolean): Promise<boolean> {
    if (operation.kind === 'prune') return said
    const done = (await this.box.sandbox.status()).operations.has(operation.id)
    if (said) expect(done, 'what is said to be done is done').toBe(true)
    if (!done) this.#expectView()
    return done
  }

  /** A rewind that comes to nothing may have ended them all the same, and so does the death of their holder. */
  async #seeWhoIsLeft(): Promise<void> {
    const running = await this.box.sandbox.processes()
    if (running.length === 0) this.#forgetProcesses()
  }

  // -- looking at everything --------------------------------------------------------------------------------------

  #resolved(state: FilesState): FilesState {
    const { trees } = new StateFile(this.folder)
    return { workspace: trees.workspace.resolve(state.workspace), machine: trees.machine.resolve(state.machine) }
  }

  /** The layers of a state as they were frozen, top first, and the folders that would be mounted for it. */
  #layersOf(state: FilesState, overlay: (typeof OVERLAYS)[number]): { chain: number[]; stack: number[] } {
    const tree = new StateFile(this.folder).trees[overlay]
    const top = tree.resolve(state[overlay])
    return { chain: tree.chain(top), stack: tree.stack(top) }
  }

  #allLiveFiles(): string[] {
    return this.#areas.flatMap((area) => this.#liveFiles(area.view))
  }

  async #check(): Promise<void> {
    this.#expectView()
    for (const [at, point] of this.#points.entries()) {
      const live: string[] = []
      for (const area of this.#areas) {
        const { chain: numbers } = this.#layersOf(point.state, area.overlay)
        const layers = this.#folders(area, numbers)
        await this.#expectMountedAs(point, area)
        const mounted = await this.#mounts.mountReadOnly(layers)
        const what = `point ${at}, ${area.overlay} [${numbers}]`
        const folder = join(mounted, area.within)
        expect(area.seen(folder), what).toEqual(described(point.trees[area.overlay]))
        live.push(...this.#liveFiles(folder))
        if (area.overlay === 'workspace' && this.#live)
          expect(theirs(folder, []), `the host’s folders at ${what}`).toEqual(theirs(this.world.workspace, point.taken))
        await this.#mounts.unmount(mounted)
        for (const layer of layers.slice(0, -1)) await this.#expectFrozen(layer)
      }
      point.live ??= live
      expect(live, `files of processes at point ${at}`).toEqual(point.live)
    }
    await this.#checkChanges()
  }

  /** The lowest is not looked at: nothing is folded into it, and it may be the host's own. */
  async #expectFrozen(layer: LayerFolder): Promise<void> {
    const hash = createHash('sha256')
      .update(described(treeOf(layer.path)).join('\n'))
      .digest('hex')
    const before = this.#hashes.get(layer.path)
    expect(before ?? hash, `layer ${layer.path} changed`).toBe(hash)
    this.#hashes.set(layer.path, hash)
    if (before === undefined && (await this.#reader.hasRedirects(layer)))
      expect(redirectsElsewhere(layer.path), `${layer.path} shows what stands elsewhere`).toBe('')
  }

  /** What would be mounted for it, where that is not simply its layers. */
  async #expectMountedAs(point: Point, area: Area): Promise<void> {
    for (const end = Date.now() + FOLDING_MS; ; await sleep(20)) {
      const { chain, stack } = this.#layersOf(point.state, area.overlay)
      if (String(stack) === String(chain)) return
      const folders = this.#folders(area, stack)
      const seen = await this.#mounts
        .mountReadOnly(folders)
        .then(async (mounted) => {
          try {
            return area.seen(join(mounted, area.within))
          } finally {
            await this.#mounts.unmount(mounted)
          }
        })
        .catch(() => null)
      // One that is written together with its neighbours goes away under us: nobody who mounts it in earnest sees that.
      if (Date.now() < end && folders.some(({ path }) => !fs.existsSync(path))) continue
      expect(seen, `${area.overlay} as [${stack}]`).toEqual(described(point.trees[area.overlay]))
      return
    }
  }

  #folders(area: Area, numbers: readonly number[]): LayerFolder[] {
    return numbers.map((number) => ({ path: this.#layer(area, number), frozen: true }))
  }

  #layer(area: Area, number: number): string {
    if (number === 0 && area.overlay === 'workspace' && this.#live) return this.world.workspace
    return join(this.folder, area.overlay === 'workspace' ? 'w' : 'm', String(number))
  }

  /** What the layers say differs is what the twins say. */
  async #checkChanges(): Promise<void> {
    const [from, to] = [pick(this.#random, this.#points), pick(this.#random, this.#points)]
    if (from === undefined || to === undefined) return
    const own = (changes: readonly Change[]) => changes.filter(({ path }) => !isForeign(path))
    const { sandbox } = this.box
    const expected = bruteForce(from.trees.workspace, to.trees.workspace)
    expect(own(await sandbox.changes(from.state, to.state)), 'changes').toEqual(expected)
    const now = bruteForce(from.trees.workspace, ours(this.#trees().workspace))
    expect(own(await sandbox.changes(from.state, 'now')), 'changes until now').toEqual(now)
  }
}

/** Folders of a layer whose contents below stand elsewhere: not those that were renamed there and back. */
function redirectsElsewhere(layer: string): string {
  const script = `
import os, sys
top = os.fsencode(sys.argv[1])
for folder, _, _ in os.walk(top):
    try: target = os.getxattr(folder, 'trusted.overlay.redirect')
    except OSError: continue
    path = folder[len(top):]
    if target not in (path, os.path.basename(path)): print(path, target)`
  return execFileSync('python3', ['-c', script, layer], { encoding: 'utf8' })
}

function theirs(workspace: string, without: readonly string[]): string[] {
  const hidden = without.map((name) => Buffer.from(name).toString('latin1'))
  const isHidden = (path: string) => path === '' || hidden.some((name) => path === name || path.startsWith(`${name}/`))
  return described(new Map([...treeOf(join(workspace, 'theirs'))].filter(([path]) => !isHidden(path))))
}

const sameState = (one: FilesState, other: FilesState): boolean =>
  OVERLAYS.every((overlay) => one[overlay] === other[overlay])

const box0 = (program: Program): FilesState => program.box.sandbox.facts.baseState
