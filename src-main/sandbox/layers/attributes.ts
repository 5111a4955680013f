/**
 * Extended attributes and access lists of folders, which Node knows nothing of. GNU tar reads those of all of them at once;
 * hardly ever is there one, and only then a second one writes them. What the kernel notes on folders is not among them.
 */
import { dirname } from 'node:path'
import type { LayerDir } from './layer-dir.ts'
import { toByteString, toBytes } from './names.ts'
import { paxEntries } from './pax.ts'
import { run } from './run.ts'

const KEPT = ['--xattrs', '--xattrs-include=*', '--xattrs-exclude=trusted.overlay.*', '--xattrs-exclude=user.overlay.*']
const READ = ['--format=posix', '--numeric-owner', '--acls', '--no-recursion', '--null', '--no-unquote']

/**
 * Gives folders of a layer the attributes that those which they stand for have.
 * @param folders of layers that lie side by side; no two at the same path
 * @param target holds a folder for each, at its path
 * @throws where tar fails
 */
export async function copyAttributes(folders: readonly LayerDir[], target: string): Promise<void> {
  const [first] = folders
  if (first === undefined) return
  const beside = dirname(first.layer.path)
  const names = folders.map(({ layer, path }) => `.${toByteString(layer.path.slice(beside.length))}/${path}/.\0`)
  // Named as they are in the target.
  const args = [...READ, ...KEPT, '--transform=s,^\\./[^/]*/,./,', '-cf', '-', '-T', '-']
  const { stdout } = await run('tar', args, { cwd: beside, stdin: toBytes(names.join('')) })
  if (![...paxEntries(stdout)].some(({ records }) => [...records.keys()].some(isAttribute))) return
  await run('tar', ['--numeric-owner', '--acls', ...KEPT, '-xpf', '-'], { cwd: target, stdin: stdout })
}

const isAttribute = (keyword: string): boolean => /^SCHILY\.(xattr|acl)\./.test(keyword)
