/** A relay that is started by this process. */
import { spawn } from 'node:child_process'
import { Tunnel } from './tunnel.ts'

/** Of what it says when it fails. */
const SAID_BYTES = 4_000

/** @throws the system's error where the program cannot be started */
export async function startRelay([program = '', ...args]: readonly string[]): Promise<Tunnel> {
  // Electron is Node then.
  const child = spawn(program, args, { cwd: '/', env: { ELECTRON_RUN_AS_NODE: '1' } })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-SAID_BYTES)
  })
  const tunnel = new Tunnel({
    send: (bytes) => void child.stdin.write(bytes),
    // It keeps nothing that it would have to end in order.
    hangUp: () => void child.kill('SIGKILL'),
  })
  // What it was about to be told; its end is told below.
  child.stdin.on('error', () => {})
  child.stdout.on('data', (chunk: Buffer) => tunnel.receive(chunk))
  child.once('close', (code) => tunnel.lose(said.trim() || `exit code ${code}`))
  await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  return tunnel
}
