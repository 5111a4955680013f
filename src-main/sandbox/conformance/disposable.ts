/**
 * A disposable copy of this machine: everything that it has, in namespaces and an overlay of its own, with all rights in
 * it. What an attack destroys there is an overlay's upper layer. An ordinary user cannot have an overlay over /, and has
 * namespaces alone, with all rights in them: what destroys files is not to be tried there.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'

/**
 * $1 is a folder for the layers, $2 one of the test's own that is shown as it is ('' for none: what is to be destroyed has
 * nothing in it but the copy), $3 the options of the overlay, then a program with its arguments. A process that bears
 * $VICTIM is there to be found.
 */
const SCRIPT = `
set -e
at=$1 shown=$2 options=$3
shift 3
mount -t overlay copy -o "lowerdir=/,upperdir=$at/u,workdir=$at/w,$options" "$at/m"
cd "$at/m"
mount -t proc proc proc
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs dev
mkdir dev/shm
same() {
  : >>".$1"
  mount --bind "$1" ".$1"
}
for device in null zero full random urandom tty; do same "/dev/$device"; done
if [ -n "$shown" ]; then
  mount --rbind /sys sys
  mkdir -p ".$shown"
  mount --bind "$shown" ".$shown"
  for file in $SAME; do same "$file"; done
fi
pivot_root . mnt
cd /
umount -l /mnt
grep -q '^copy / overlay' /proc/mounts
sh -c 'sleep 1000; : "$0"' "$VICTIM" </dev/null >/dev/null 2>&1 &
exec "$@"
`

const USER_SCRIPT = `
set -e
shift 3
mount -t proc proc /proc
sh -c 'sleep 1000; : "$0"' "$VICTIM" </dev/null >/dev/null 2>&1 &
exec "$@"
`

/**
 * Runs a program there with all rights (as an ordinary user: those of a user namespace).
 * @param folder of the test's own, for the layers
 * @param options.shown a folder that is shown in the copy as it is; without it there is nothing in it but the copy
 * @param options.same files and sockets of /run and /dev that are in the copy too
 * @param options.victim what a process there can be found by, on its command line
 * @param options.descriptor one that the program inherits
 * @returns what the program wrote
 */
export async function inDisposableMachine(
  folder: string,
  words: readonly string[],
  options: {
    shown?: string
    same?: readonly string[]
    victim: string
    env?: Record<string, string>
    descriptor?: number
  },
): Promise<string> {
  const at = mkdtempSync(join(folder, 'copy-'))
  for (const name of ['u', 'w', 'm']) mkdirSync(join(at, name))
  const root = process.getuid?.() === 0
  const flags = ['-m', '-p', '-f', '-u', '--kill-child', '--propagation', 'private', ...(root ? [] : ['-U', '-r'])]
  const script = root ? SCRIPT : USER_SCRIPT
  const argv = [...flags, 'sh', '-c', script, 'sh', at, options.shown ?? '', 'index=off,metacopy=off', ...words]
  const { PATH = '' } = process.env
  const env = { PATH, LIBMOUNT_FORCE_MOUNT2: 'always', VICTIM: options.victim, SAME: (options.same ?? []).join(' ') }
  const child = spawn('unshare', argv, {
    env: { ...env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', options.descriptor ?? 'ignore'],
  })
  let out = ''
  let err = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0) throw new Error(`the disposable machine: ${code} ${err}${out}`)
  return out
}
