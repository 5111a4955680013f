/**
 * The namespaces of one sandbox: built once, kept alive by the holder, entered again by a later host. Owns the control
 * shell, the holder and the launcher, each of which can be replaced while the others go on.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DiskFullError, EngineUnavailableError } from '../../contract/index.ts'
import { ControlShell, call, type ShellAnswer, ShellDied } from '../channel/index.ts'
import { groupFor, passwdFor } from './accounts.ts'
import { holderFiles } from './holder-root.ts'
import { type Mount, mountOf, readMounts, readOnlyOptions } from './mountinfo.ts'
import { overlayOptions } from './overlay.ts'
import { isAlive, pidInside, processesOf, readProcess } from './processes.ts'
import type { Programs } from './programs.ts'
import { HOLDER_NOTE, notedHolder } from './remove.ts'
import {
  deviceFiles,
  deviceLinks,
  machineTable,
  maskName,
  mountTable,
  OWN_BUSYBOX,
  OWN_ROOT,
  procTable,
  ROOT,
  type RootPlan,
  remounts,
  SKELETON,
  skeletonPoints,
} from './root-plan.ts'
import type { Holder, StoredSpec } from './state.ts'

export interface Scripts {
  control: string
  holder: string
  launcher: string
  command: string
}

export interface NamespaceOptions {
  /** The sandbox's folder on the host. */
  folder: string
  stored: StoredSpec
  /** The workspace as this process finds it. */
  source: string
  plan: RootPlan
  /** What every command has of its environment. */
  environment: Readonly<Record<string, string>>
  programs: Programs
  scripts: Scripts
}

/** How long a control shell of an earlier host may take to finish its script. */
const LOCK_SECONDS = 30
const HOLDER_LIMIT_MS = 15_000

export class Namespace {
  readonly #options: NamespaceOptions
  #shell: ControlShell | null = null
  #holder: Holder | null = null

  constructor(options: NamespaceOptions) {
    this.#options = options
  }

  get shell(): ControlShell {
    if (this.#shell === null) throw new Error('the control shell is not open')
    return this.#shell
  }

  get holder(): Holder {
    if (this.#holder === null) throw new Error('the sandbox has no holder')
    return this.#holder
  }

  /** A path inside, for this process to open. */
  path(inside: string): string {
    return `/proc/${this.shell.pid}/root${ROOT}${inside}`
  }

  /** A path of the namespace's own root. */
  ownPath(path: string): string {
    return `/proc/${this.shell.pid}/root${path}`
  }

  /** @throws ShellDied where it was killed: its mounts are seen through it */
  mounts(only?: string): Mount[] {
    try {
      return readMounts(this.shell.pid, only)
    } catch (error) {
      // While it is ending it has no namespaces any more (EINVAL).
      if (!['EINVAL', 'ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
      throw new ShellDied('The control shell ended.', { cause: error })
    }
  }

  /** @throws ShellDied */
  overlays(): Mount[] {
    return this.mounts('overlay')
  }

  /**
   * Calls one of the control shell's functions.
   * @throws DiskFullError, EngineUnavailableError with what the programs said; ShellDied
   */
  async must(script: string, doing: string): Promise<string> {
    const answer = await this.shell.run(script)
    if (answer.code !== 0) throw failure(answer, doing)
    return answer.output
  }

  /** New namespaces, with everything but the overlays and the processes in them. */
  async build(): Promise<void> {
    const { stored, programs, folder, plan } = this.#options
    const { mode, spec } = stored
    const flags = ['-m', '-u', '--propagation', 'private', ...(spec.network ? [] : ['-n'])]
    if (mode === 'user') flags.unshift('-U', '-r')
    await this.#open([programs.paths.unshare, ...flags, ...programs.shell])
    // The host's mounts come and go; those that were there when the namespace was made stay in it.
    const host = this.mounts()
    const live = stored.facts.base === 'live'
    const source = live ? this.#options.source : ''
    const options = readOnlyOptions(mountOf(host, source)) + (stored.idmap ? `,${stored.idmap}` : '')
    mkdirSync(join(folder, 'ns'), { recursive: true })
    await this.must(call('ground', source, options, plan.image?.folder ?? ''), 'Preparing the sandbox')
    await this.must(call('hold_lock', String(LOCK_SECONDS)), 'Taking hold of the sandbox')
    if (!spec.network) await this.#loopback()
    this.#writeTables()
    this.#makeSkeleton()
    const seen = remounts(plan, host)
    const bindable = '"$MOUNT" -n --make-private /run'
    const lines = [
      plan.image === null
        ? `"$MOUNT" --rbind / ${ROOT} && ${bindable} || return 1`
        : `${bindable} && "$MOUNT" -o bind,ro,nosuid,nodev ${OWN_ROOT} ${ROOT} || return 1`,
      // A mount goes from here too when the host removes the folder that it is on (and may make it anew, as docker does
      // with those of its containers); and as an ordinary user there may be mounts in folders that it cannot enter, nor
      // can its agent. What stays as it was is found below.
      ...seen.map(({ point, options: flags }) => call('"$MOUNT"', '-o', `remount,bind,${flags}`, ROOT + point)),
      '"$MOUNT" -a -T /run/s/mounts || return 1',
    ]
    const said = await this.must(`root() {\n${lines.join('\n')}\n}\nroot`, 'Building the root of the sandbox')
    this.#checkReadOnly(plan.image === null ? seen.map(({ point }) => point) : ['/'], said)
  }

  /** Enters the namespaces that a holder keeps, once an earlier control shell has let go. */
  async enter(holder: Holder): Promise<void> {
    const { stored, programs } = this.#options
    const { mode, spec } = stored
    const flags = ['-t', String(holder.pid), '-m', '-u', ...(spec.network ? [] : ['-n'])]
    if (mode === 'user') flags.push('-U', '--preserve-credentials')
    await this.#open([programs.paths.nsenter, ...flags, ...programs.shell])
    this.#holder = holder
    await this.must(call('hold_lock', String(LOCK_SECONDS)), 'Taking hold of the sandbox')
  }

  /** Starts the holder. The overlays stand by now: it is what keeps them. */
  async hold(): Promise<Holder> {
    const { folder } = this.#options
    const note = join(folder, HOLDER_NOTE)
    rmSync(note, { force: true })
    await this.must('hold', 'Starting the holder')
    for (const end = Date.now() + HOLDER_LIMIT_MS; ; await sleep(1)) {
      const said = existsSync(note) ? readFileSync(note, 'utf8') : ''
      if (said === 'failed\n' || Date.now() > end) throw this.#holderFailed()
      const holder = notedHolder(folder)
      if (holder === null) continue
      this.#holder = holder
      return holder
    }
  }

  /** @returns the launcher's pid as the host numbers it */
  async launch(): Promise<number> {
    const inside = Number(await this.must(call('launch', String(this.holder.pid)), 'Starting the launcher'))
    const found = processesOf(this.holder).find(({ pid }) => pidInside(pid) === inside)
    if (found !== undefined) return found.pid
    throw new EngineUnavailableError('Commands cannot be started in the sandbox: its launcher ended at once.', {
      nextStep: 'Destroy the sandbox and start a new one.',
    })
  }

  /** Starts the command of one run folder as root, with what the image's own root may do. Told of as every other. */
  async startAsRoot(folder: string): Promise<void> {
    await this.must(call('start_as_root', String(this.holder.pid), folder), 'Starting the command')
  }

  /**
   * A program of ours in the network of the sandbox and in nothing else of it, so that no process inside sees it: without
   * rights there, or as root with the agent's user and group as its last words, whom it has to become.
   */
  inNetwork(program: readonly string[]): string[] {
    const { stored, programs } = this.#options
    const { mode, spec, agent } = stored
    const user = mode === 'user'
    const own = user ? ['-U', '--preserve-credentials'] : []
    const enter = spec.network ? [] : [programs.paths.nsenter, '-t', String(this.holder.pid), ...own, '-n']
    const drop = ['--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all', ...(user ? ['--bounding-set=-all'] : [])]
    const become = user ? [] : [String(agent.uid), String(agent.gid)]
    return [...enter, programs.paths.setpriv, ...drop, ...program, ...become]
  }

  /** Looked at rather than waited for: that it was killed may not have been told yet. */
  get shellLives(): boolean {
    if (this.#shell === null || !this.#shell.alive) return false
    const found = readProcess(this.#shell.pid)
    return found !== null && found.state !== 'Z'
  }

  get holderLives(): boolean {
    return this.#holder !== null && isAlive(this.#holder)
  }

  async close(): Promise<void> {
    await this.#shell?.close()
  }

  /** It is this sandbox's shell once it answers: before that its process may still be in the host's namespaces. */
  async #open(argv: readonly string[]): Promise<void> {
    const shell = await ControlShell.open(argv, this.#environment())
    const answer = await shell.run(this.#options.scripts.control)
    if (answer.code !== 0) throw failure(answer, 'Opening the control channel')
    this.#shell = shell
  }

  #environment(): Record<string, string> {
    const { folder, stored, plan, programs, scripts } = this.#options
    const { paths, shell, sh, busybox, path } = programs
    const { uid, gid } = stored.agent
    return {
      PATH: path,
      LC_ALL: 'C',
      // The newer interface limits a value to 256 bytes.
      LIBMOUNT_FORCE_MOUNT2: 'always',
      FOLDER: folder,
      WORKSPACE: stored.facts.workspace,
      OVERLAY: overlayOptions(stored.mode),
      BINDS: plan.places
        .map(({ inside }) => ROOT + inside)
        .reverse()
        .join(' '),
      OWN_BUSYBOX: plan.image === null ? '' : OWN_BUSYBOX,
      MODE: stored.mode,
      AGENT_UID: String(uid),
      AGENT_GID: String(gid),
      SH: shell[0],
      SH_WORD: shell[1] ?? '',
      MOUNT: paths.mount,
      UNSHARE: paths.unshare,
      NSENTER: paths.nsenter,
      FLOCK: paths.flock,
      SETPRIV: paths.setpriv,
      SETSID: paths.setsid,
      ENV: paths.env,
      CHROOT: paths.chroot,
      COPY: paths.cp,
      MOVE: paths.mv,
      HOLDER_SCRIPT: scripts.holder,
      LAUNCHER_SCRIPT: scripts.launcher,
      COMMAND_SCRIPT: scripts.command,
      COMMAND_SH: sh,
      HOLDER_IDENTITY: stored.mode === 'root' ? `--userspec=${uid}:${gid} --groups=` : '',
      HOLDER_PROGRAM: busybox === null ? '/sleep 100000000' : '/busybox sleep 100000000',
      ...armedOnce(),
    }
  }

  async #loopback(): Promise<void> {
    const ways = ['ip link set lo up', 'busybox ip link set lo up', 'ifconfig lo up', 'busybox ifconfig lo up']
    await this.must(
      `{ ${ways.join(' || ')}; } 2>/dev/null || echo "neither ip nor ifconfig nor busybox is here"`,
      'Network',
    )
  }

  #writeTables(): void {
    const { folder, plan, stored, programs } = this.#options
    mkdirSync(join(folder, 'etc'), { recursive: true })
    const { text, name } = passwdFor(stored.agent, plan.home)
    writeFileSync(join(folder, 'etc/passwd'), text, { mode: 0o644 })
    writeFileSync(join(folder, 'etc/group'), groupFor(stored.agent, name), { mode: 0o644 })
    const holder = holderFiles(programs).map(({ from, at }) => `${from} /run/h${at} none bind,ro,nosuid,nodev 0 0\n`)
    writeFileSync(join(folder, 'mounts'), mountTable(plan) + holder.join(''))
    writeFileSync(join(folder, 'binds'), machineTable(plan))
    writeFileSync(join(folder, 'proc-masks'), procTable())
  }

  /** Folders and files on the namespace's own tmpfs, made from here: no program has to be started for it. */
  #makeSkeleton(): void {
    const { plan, stored, programs } = this.#options
    const own = `/proc/${this.shell.pid}/root`
    const folder = (path: string): void => void mkdirSync(own + path, { recursive: true, mode: 0o755 })
    const file = (path: string, content = ''): void => {
      folder(dirname(path))
      writeFileSync(own + path, content, { mode: 0o644 })
    }
    for (const name of ['empty', 'run/rewind', 'dev/pts', 'dev/shm']) folder(`${SKELETON}/${name}`)
    for (const mask of plan.masks) folder(`${SKELETON}/${maskName(plan, mask)}`)
    for (const name of deviceFiles) file(`${SKELETON}/dev/${name}`)
    for (const [name, target] of deviceLinks) symlinkSync(target, `${own}${SKELETON}/dev/${name}`)
    for (const point of skeletonPoints(plan, stored.facts.workspace)) folder(point)
    if (plan.image !== null) {
      file(OWN_ROOT + OWN_BUSYBOX)
      for (const [name, target] of plan.image.links) symlinkSync(target, `${own}${OWN_ROOT}/${name}`)
    }
    for (const { at } of holderFiles(programs)) file(`/run/h${at}`)
    const resolver = realpathIfThere('/etc/resolv.conf')
    if (resolver?.startsWith('/run/')) file(`${SKELETON}${resolver}`, readFileSync(resolver, 'utf8'))
    if (stored.mode === 'root') chownSync(`${own}${SKELETON}`, 0, 0)
    chmodSync(`${own}${SKELETON}`, 0o755)
  }

  /** Some versions of mount(8) answer that a recursive or read-only bind took when it did not. */
  /** @param said by mount(8), where it was refused */
  #checkReadOnly(points: readonly string[], said: string): void {
    const shown = new Map(this.mounts().map((mount) => [mount.point, mount]))
    for (const point of points) {
      const mount = shown.get(point === '/' ? ROOT : ROOT + point)
      if (mount === undefined || ['ro', 'nosuid', 'nodev'].every((flag) => mount.flags.has(flag))) continue
      if (this.#options.stored.mode === 'user' && !existsSync(point)) continue
      throw new EngineUnavailableError(`${point} could not be made read-only in the sandbox. ${said}`.trim(), {
        nextStep: 'Update util-linux, or unmount that folder while you use sandboxes.',
      })
    }
  }

  #holderFailed(): EngineUnavailableError {
    const log = join(this.#options.folder, 'holder.log')
    const said = existsSync(log) ? readFileSync(log, 'utf8').trim() : ''
    const revealing = said.includes('too revealing') || said.includes('/proc')
    return new EngineUnavailableError(
      `The sandbox's own process namespace could not be started: ${said || 'no word'}`,
      {
        nextStep: revealing
          ? 'In a container, start that container with its /proc unmasked (--security-opt systempaths=unconfined).'
          : 'Run `rewind doctor`.',
      },
    )
  }
}

const realpathIfThere = (path: string): string | null => {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

let armed = process.env.REWIND_CRASH_AT

/** A crash point of the shell's is armed for the first shell only: the one that takes its place must work. */
function armedOnce(): Record<string, string> {
  if (!armed?.startsWith('shell:')) return {}
  const point = armed
  armed = undefined
  return { REWIND_CRASH_AT: point }
}

/** What a failed script means to the caller. */
export function failure({ code, output }: ShellAnswer, doing: string): DiskFullError | EngineUnavailableError {
  if (/No space left on device|Disk quota exceeded/.test(output)) return diskFull(doing)
  return new EngineUnavailableError(`${doing} failed: ${output || `exit code ${code}`}`, {
    nextStep: 'Run `rewind doctor` to see what the engine needs.',
    data: { output, code },
  })
}

export const diskFull = (doing: string, cause?: unknown): DiskFullError =>
  new DiskFullError(`${doing} failed: there is no space left on the disk that holds the sandboxes.`, {
    nextStep: 'Free some space on that disk and try again: `rewind destroy` gives back what a session holds.',
    cause,
  })

/** Errors of the file system calls that fill the disk, as ours. */
export function asDiskFull(error: unknown, doing: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOSPC' || code === 'EDQUOT' ? diskFull(doing, error) : error
}
