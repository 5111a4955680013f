/**
 * Real overlay mounts for tests, in a mount namespace of their own, reached through /proc/PID/root: nothing is
 * mounted in the namespace that the tests run in, and all of it vanishes with one process.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { LayerFolder } from './layer-dir.ts'
import type { OpaqueXattr } from './marks.ts'

/** `root` mounts with the machine's root rights (trusted.*), `user` in a user namespace (user.*). */
export type MountMode = 'root' | 'user'

export const modesHere: readonly MountMode[] = process.getuid?.() === 0 ? ['root', 'user'] : ['user']

export class Overlay {
  readonly folder = mkdtempSync(join(tmpdir(), 'layers-'))
  readonly mode: MountMode
  /** Frozen layers, top first. The lowest is the project as it was. */
  frozen: LayerFolder[] = []
  #next = 0
  #shell: ChildProcessWithoutNullStreams
  #work = 0
  /** Rejects when the shell is gone, so that nobody waits for its answer. */
  readonly #ended: Promise<never>

  constructor(mode: MountMode) {
    this.mode = mode
    const flags = mode === 'root' ? ['-m'] : ['-U', '-r', '-m']
    this.#shell = spawn('unshare', [...flags, '--propagation', 'private', 'sh'], {
      env: { PATH: process.env.PATH, LIBMOUNT_FORCE_MOUNT2: 'always' },
      cwd: '/',
    })
    this.#ended = new Promise((_, reject) => this.#shell.once('exit', () => reject(new Error('the shell has ended'))))
    this.#ended.catch(() => {})
    this.frozen = [this.#newLayer(true)]
  }

  get opaqueXattr(): OpaqueXattr {
    return this.mode === 'root' ? 'trusted.overlay.opaque' : 'user.overlay.opaque'
  }

  /** Host folder of the lowest layer. */
  get base(): string {
    return this.frozen.at(-1)?.path ?? ''
  }

  #newLayer(frozen: boolean): LayerFolder {
    const path = join(this.folder, String(this.#next++))
    mkdirSync(path, { mode: 0o755 })
    return { path, frozen }
  }

  /** Runs a script where the mounts are. @throws with what it said */
  async script(script: string): Promise<string> {
    const shell = this.#shell
    const marker = `end-${Math.random().toString(36).slice(2)}`
    let text = ''
    const answer = new Promise<string>((resolve, reject) => {
      const onData = (chunk: Buffer) => {
        text += chunk
        const end = text.indexOf(marker)
        if (end < 0 || !text.endsWith('\n')) return
        shell.stdout.off('data', onData)
        shell.stderr.off('data', onData)
        const code = text.slice(end + marker.length).trim()
        if (code === '0') resolve(text.slice(0, end))
        else reject(new Error(`${script}: ${text.slice(0, end)}`))
      }
      shell.stdout.on('data', onData)
      shell.stderr.on('data', onData)
    })
    shell.stdin.write(`{ cd ${this.folder}\n${script}\n} 2>&1\necho ${marker} $?\ncd /\n`)
    return Promise.race([answer, this.#ended])
  }

  /**
   * Mounts the frozen layers below a fresh upper.
   * @returns the upper, and where the merged tree can be reached
   */
  async mountWritable(options: { redirects?: boolean } = {}): Promise<{ upper: LayerFolder; tree: string }> {
    const upper = this.#newLayer(false)
    const work = join(this.folder, `w${this.#work++}`)
    const tree = await this.#mount(
      this.frozen,
      `upperdir=${upper.path},workdir=${work},${this.#redirectOption(options.redirects ?? false)}`,
      `mkdir ${work}`,
    )
    return { upper, tree }
  }

  #redirectOption(redirects: boolean): string {
    if (this.mode === 'user') return 'userxattr'
    return redirects ? 'redirect_dir=on' : 'redirect_dir=off'
  }

  /**
   * The merged tree of a stack, read-only: what brute force compares with. Without `redirects` a folder that was
   * renamed in a layer cannot be entered.
   */
  async mountReadOnly(layers: readonly LayerFolder[], { redirects = true } = {}): Promise<string> {
    if (layers.length === 1) return layers[0]?.path ?? ''
    const root = redirects ? 'redirect_dir=follow' : 'redirect_dir=nofollow'
    return this.#mount(layers, this.mode === 'user' ? 'userxattr' : root, 'true')
  }

  async #mount(layers: readonly LayerFolder[], options: string, before: string): Promise<string> {
    const point = join(this.folder, `m${this.#work++}`)
    mkdirSync(point)
    // Named from the folder that most of them lie in: the options of a mount have to fit into one page.
    const from = dirname(layers[0]?.path ?? this.folder)
    const names = layers.map(({ path }) => (dirname(path) === from ? basename(path) : path))
    await this.script(
      `${before} && cd ${from} && mount -t overlay ws -o 'lowerdir=${names.join(':')},${options},index=off,metacopy=off,xino=off' ${point}`,
    )
    // The shell that unshare became is the one whose namespace this is.
    return `/proc/${this.#shell.pid}/root${point}`
  }

  async unmount(tree: string): Promise<void> {
    if (tree.startsWith('/proc/')) await this.script(`umount ${tree.replace(/^\/proc\/\d+\/root/, '')}`)
  }

  /** Makes the upper the top of the frozen layers. */
  async freeze(upper: LayerFolder, tree: string): Promise<void> {
    await this.unmount(tree)
    this.frozen = [{ path: upper.path, frozen: true }, ...this.frozen]
  }

  async remove(): Promise<void> {
    const ended = new Promise((resolve) => this.#shell.once('exit', resolve))
    this.#shell.stdin.end()
    await ended
    // The kernel leaves work folders without any permission, which only a (mapped) root can remove.
    if (process.getuid?.() !== 0) spawnSync('unshare', ['-U', '-r', 'rm', '-rf', this.folder])
    else rmSync(this.folder, { recursive: true, force: true })
    if (existsSync(this.folder)) throw new Error(`${this.folder} is still there`)
  }
}
