/** A relay that is started by this process. */
import { spawnShut } from '../channel/index.ts'
import { Tunnel } from './tunnel.ts'

/** Of what it says when it fails. */
const SAID_BYTES = 4_000

/** @throws the system's error where the program cannot be started */
export async function startRelay([program = '', ...args]: readonly string[]): Promise<Tunnel> {
  // Its own session: what a terminal sends to the host's process group is not for it. Electron is Node then.
  const child = spawnShut(program, args, { detached: true, cwd: '/', env: { ELECTRON_RUN_AS_NODE: '1' } }, 3)
  const started = new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  const { stdin, stdout, stderr } = child
  // Without a descriptor to spare there are no streams, and the error is still to come.
  if (!stdin || !stdout || !stderr) {
    await started
    throw new Error(`${program} has no streams`)
  }
  let said = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-SAID_BYTES)
  })
  const tunnel = new Tunnel({
    send: (bytes) => void stdin.write(bytes),
    // It keeps nothing that it would have to end in order.
    hangUp: () => void child.kill('SIGKILL'),
  })
  // What it was about to be told; its end is told below.
  stdin.on('error', () => {})
  stdout.on('data', (chunk: Buffer) => tunnel.receive(chunk))
  child.once('close', (code) => tunnel.lose(said.trim() || `exit code ${code}`))
  await started
  return tunnel
}
