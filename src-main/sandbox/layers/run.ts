/** Programs that do for us what Node cannot. */
import { spawn } from 'node:child_process'

export interface RunOptions {
  cwd: string
  stdin?: Buffer
  /** A failure is accepted where stderr matches this. */
  mayFail?: RegExp
}

/** @throws with what it said where it fails */
export function run(program: string, args: string[], { cwd, stdin, mayFail }: RunOptions): Promise<{ stdout: Buffer }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, LC_ALL: 'C' } })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.stdin.on('error', () => {}) // EPIPE: the program ended early and says why on stderr
    child.on('error', reject)
    child.on('close', (code) => {
      const stderr = Buffer.concat(err).toString('latin1')
      const fine = mayFail === undefined ? code === 0 : mayFail.test(stderr)
      if (fine) resolve({ stdout: Buffer.concat(out) })
      else reject(new Error(`${program} failed (${code}): ${stderr.trim().slice(0, 500)}`))
    })
    child.stdin.end(stdin)
  })
}
