/** What the machine itself needs for the smallest pieces that the product is made of. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Figure, figureOf, repeat } from './measure.ts'

export interface Floors {
  /** One fork and exec of a coreutils program, by a small shell. */
  fork: Figure
  /** One umount and mount of an overlay, by a small shell. */
  remount: Figure
  /** One empty start of this Node. */
  node: Figure
}

/** Milliseconds for each of `rounds` repetitions of a shell line, as the shell itself sees them. */
function shellTimes(
  prefix: readonly string[],
  setup: string,
  line: string,
  rounds: number,
  perRound: number,
): number[] {
  const script = `${setup}
i=0
while [ $i -lt ${rounds} ]; do
  a=$(date +%s%N); j=0
  while [ $j -lt ${perRound} ]; do ${line}; j=$((j+1)); done
  b=$(date +%s%N); echo $(( (b - a) / ${perRound} )); i=$((i+1))
done`
  const [file = 'sh', ...rest] = [...prefix, 'sh', '-c', script]
  const { stdout, stderr, status } = spawnSync(file, rest, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`floor could not be measured: ${stderr}`)
  return stdout
    .trim()
    .split('\n')
    .map((nanoseconds) => Number(nanoseconds) / 1e6)
}

/** @param scratch a folder on the disk that sandboxes use */
export async function measureFloors(scratch: string): Promise<Floors> {
  const root = process.getuid?.() === 0
  for (const name of ['l', 'u', 'w', 'm']) mkdirSync(join(scratch, 'floor', name), { recursive: true })
  const options = `lowerdir=l,upperdir=u,workdir=w,index=off,xino=off,volatile${root ? '' : ',userxattr'}`
  const mount = `rm -rf w/work; mount -t overlay o -o ${options} m`
  return {
    fork: figureOf(shellTimes([], '', '/bin/stat / >/dev/null', 20, 20)),
    remount: figureOf(
      shellTimes(
        root
          ? ['unshare', '-m', '--propagation', 'private']
          : ['unshare', '-U', '-r', '-m', '--propagation', 'private'],
        `cd '${join(scratch, 'floor')}' && ${mount}`,
        `umount m && ${mount}`,
        10,
        5,
      ),
    ),
    node: await repeat(10, () => execFileSync(process.execPath, ['-e', '0'])),
  }
}
