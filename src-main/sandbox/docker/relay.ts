/** A relay in a container: one `docker exec` of it, which lasts as long as its standard streams are attached. */
import type Docker from 'dockerode'
import { Tunnel } from '../tunnel/index.ts'
import { asDockerError } from './connect.ts'
import { writable } from './link.ts'

/** Of what it says when it fails. */
const SAID_BYTES = 4_000

/** @throws EngineUnavailableError */
export async function startRelayIn(
  docker: Docker,
  container: Docker.Container,
  words: readonly string[],
): Promise<Tunnel> {
  try {
    const exec = await container.exec({
      Cmd: [...words],
      User: '0:0',
      WorkingDir: '/',
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
    })
    const stream = await exec.start({ hijack: true, stdin: true })
    const tunnel = new Tunnel({ send: (bytes) => void stream.write(bytes), hangUp: () => void stream.destroy() })
    let said = ''
    const out = writable((chunk) => tunnel.receive(chunk))
    const err = writable((chunk) => {
      said = (said + chunk.toString()).slice(-SAID_BYTES)
    })
    docker.modem.demuxStream(stream, out, err)
    const lost = (): void => tunnel.lose(said.trim() || 'its connection to docker ended')
    stream.once('end', lost).once('close', lost).on('error', lost)
    return tunnel
  } catch (error) {
    throw asDockerError(error, 'The way to the ports of the sandbox cannot be opened')
  }
}
