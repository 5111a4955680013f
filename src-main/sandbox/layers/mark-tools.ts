/**
 * The programs that can read extended attributes for us, best first, and the choice among them.
 *
 * A tool that cannot see an attribute looks exactly like a folder without one, and a difference computed from that
 * is wrong in silence. So each tool is proved first: it sets the very attribute on a folder beside the layers and
 * has to read it back.
 */
import { lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { EngineUnavailableError } from '../../contract/index.ts'
import type { Mark } from './marks.ts'
import { type ByteString, toByteString, toBytes } from './names.ts'
import { paxEntries, paxFolders } from './pax.ts'
import { run } from './run.ts'

export interface MarkNames {
  opaque: string
  redirect: string
}

export interface MarkTool {
  readonly name: string
  /** Sets `attribute` of folders beneath `from` to `y`; their times may change. @throws where it cannot */
  set(from: string, folders: readonly ByteString[], attribute: string): Promise<void>
  /**
   * @param from the folder that the paths are relative to
   * @returns a mark per folder, in their order; undefined where the folder was not there
   * @throws where the tool itself failed
   */
  read(from: string, folders: readonly ByteString[], names: MarkNames): Promise<(Mark | undefined)[]>
}

/**
 * The first tool that passes its proof.
 * @param beside a folder on the layers' own file system, in which the proof is made and removed again
 * @throws EngineUnavailableError naming what each tool said
 */
export async function chooseMarkTool(tools: readonly MarkTool[], beside: string, attribute: string): Promise<MarkTool> {
  const refusals: string[] = []
  for (const tool of tools) {
    const refusal = await proveTool(tool, beside, attribute)
    if (refusal === null) return tool
    refusals.push(`${tool.name}: ${refusal}`)
  }
  throw new EngineUnavailableError(
    `Nothing here can read the marks on layers (${attribute}). ${refusals.join('; ')}.`,
    {
      nextStep: 'Install GNU tar with xattr support (Debian: apt-get install tar), python3, or attr, then try again.',
      data: { attribute, refusals },
    },
  )
}

async function proveTool(tool: MarkTool, beside: string, attribute: string): Promise<string | null> {
  let folder: string | null = null
  try {
    folder = mkdtempSync(join(beside, '.proof-'))
    mkdirSync(join(folder, 'marked'))
    mkdirSync(join(folder, 'plain'))
    await tool.set(folder, ['marked'], attribute)
    const names = { opaque: attribute, redirect: `${attribute}-none` }
    const [marked, plain] = await tool.read(folder, ['marked', 'plain'], names)
    return marked?.opaque === true && plain?.opaque === false ? null : 'does not see a mark that was just set'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true })
  }
}

/** GNU tar: always there on Debian, and the fastest. The attributes stand in the pax headers of an archive. */
export const tarTool: MarkTool = {
  name: 'tar',
  set: async (from, folders, attribute) => {
    const entries = folders.map((path) => ({ path, stat: lstatSync(toBytes(`${toByteString(from)}/${path}`)) }))
    const archive = paxFolders(entries, { [`SCHILY.xattr.${attribute}`]: 'y' })
    await run('tar', ['--xattrs', `--xattrs-include=${attribute}`, '-xpf', '-'], { cwd: from, stdin: archive })
  },
  read: (from, folders, { opaque, redirect }) =>
    inBatches(folders, async (batch) => {
      const args = ['--format=posix', '--numeric-owner', '--xattrs']
      args.push(`--xattrs-include=${opaque}`, `--xattrs-include=${redirect}`)
      args.push('--no-recursion', '--null', '--no-unquote', '-cf', '-', '-T', '-')
      // The dot at the end: a file or a symlink that took a folder's place is an error, not an archive of its bytes.
      const stdin = toBytes(batch.map((folder) => `./${folder}/.\0`).join(''))
      // tar says 1 or 2 when a folder went away; the caller looks whether those left out are really gone.
      const { stdout } = await run('tar', args, { cwd: from, stdin, mayFail: ONLY_VANISHED })
      const marks = new Map<ByteString, Mark>()
      for (const { path, records } of paxEntries(stdout)) {
        marks.set(
          path
            .replace(/^\.\//, '')
            .replace(/\/\.?$/, '')
            .replace(/\/\.$/, ''),
          {
            opaque: records.get(`SCHILY.xattr.${opaque}`) === 'y',
            redirect: records.get(`SCHILY.xattr.${redirect}`) ?? null,
          },
        )
      }
      return batch.map((folder) => marks.get(folder))
    }),
}

/** Lines of tar about folders that went away while it ran; whatever else it says is a failure. */
const ONLY_VANISHED =
  /^(tar: .*: (Cannot stat: |Warning: Cannot .*: |Cannot .*: )?(No such file or directory|Not a directory|File removed before we read it|file changed as we read it)\n|tar: Exiting with failure status due to previous errors\n)*$/s

export const pythonTool: MarkTool = {
  name: 'python3',
  set: async (from, folders, attribute) => {
    const script = `
import os, sys
for path in sys.stdin.buffer.read().split(b"\\0")[:-1]: os.setxattr(path, sys.argv[1], b"y")`
    await run('python3', ['-c', script, attribute], { cwd: from, stdin: listed(folders) })
  },
  read: (from, folders, { opaque, redirect }) =>
    inBatches(folders, async (batch) => {
      const script = `
import errno, os, sys
def get(path, name):
    try: return os.getxattr(path, name, follow_symlinks=False)
    except OSError as e:
        if e.errno == errno.ENODATA: return b""
        raise
for path in sys.stdin.buffer.read().split(b"\\0")[:-1]:
    try: out = b"+" + get(path, sys.argv[1]) + b"\\0" + get(path, sys.argv[2])
    except (FileNotFoundError, NotADirectoryError): out = b"-\\0"
    sys.stdout.buffer.write(out + b"\\0")`
      const { stdout } = await run('python3', ['-c', script, opaque, redirect], { cwd: from, stdin: listed(batch) })
      const fields = stdout.toString('latin1').split('\0')
      return batch.map((_, at) => {
        const first = fields[2 * at]
        if (first === undefined || !first.startsWith('+')) return undefined
        return { opaque: first === '+y', redirect: fields[2 * at + 1] || null }
      })
    }),
}

/** getfattr, from Debian's `attr`. Its values go through hexadecimal, as it has several ways to quote text. */
export const getfattrTool: MarkTool = {
  name: 'getfattr',
  set: async (from, folders, attribute) => {
    const args = ['-0', '-r', '-n', '100', 'setfattr', '-n', attribute, '-v', 'y', '--']
    await run('xargs', args, { cwd: from, stdin: listed(folders) })
  },
  read: (from, folders, { opaque, redirect }) =>
    inBatches(folders, async (batch) => {
      // One process for each value, so that a name is never mistaken for output. Slow, and only the last resort.
      const script = `opaque=$1 redirect=$2; shift 2
value() { getfattr -h --absolute-names --only-values -n "$1" -- "$2" 2>/dev/null | od -An -v -tx1 | tr -d ' \\n'; }
for folder; do
  if [ -d "$folder" ]; then echo "+$(value "$opaque" "$folder")"; echo "+$(value "$redirect" "$folder")"
  else echo -; echo -; fi
done`
      const args = ['-0', '-r', '-n', '100', 'sh', '-c', script, 'sh', opaque, redirect]
      const { stdout } = await run('xargs', args, { cwd: from, stdin: listed(batch) })
      const lines = stdout.toString('latin1').split('\n')
      const value = (line = ''): string => Buffer.from(line.slice(1), 'hex').toString('latin1')
      return batch.map((_, at) => {
        if (!lines[2 * at]?.startsWith('+')) return undefined
        return { opaque: value(lines[2 * at]) === 'y', redirect: value(lines[2 * at + 1]) || null }
      })
    }),
}

const listed = (folders: readonly ByteString[]): Buffer => toBytes(folders.map((folder) => `./${folder}\0`).join(''))

/** Folders per process: bounds what its answer takes in memory. */
const BATCH = 4096

async function inBatches<T>(folders: readonly ByteString[], read: (batch: ByteString[]) => Promise<T[]>): Promise<T[]> {
  const all: T[] = []
  for (let at = 0; at < folders.length; at += BATCH) all.push(...(await read(folders.slice(at, at + BATCH))))
  return all
}
