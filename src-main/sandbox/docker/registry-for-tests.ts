/**
 * A registry with one image of one layer, on loopback, for a real engine to pull from: engines take those of 127.0.0.1
 * without a certificate. The layer can be held back after its first half, for what happens in a pull's middle.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import tar from 'tar-stream'

export class Registry {
  readonly #server: Server
  readonly #blobs = new Map<string, Buffer>()
  readonly #manifest: Buffer
  readonly #layer: string
  /** Whether the second half of the layer is kept back. */
  held = false

  static async begin(): Promise<Registry> {
    const pack = tar.pack()
    // Random, so that each registry's image is new to the engine.
    pack.entry({ name: 'content' }, randomBytes(2_000_000))
    pack.finalize()
    const registry = new Registry(await buffer(pack))
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve))
    return registry
  }

  private constructor(layer: Buffer) {
    this.#layer = this.#add(layer)
    const config = this.#add(
      Buffer.from(
        JSON.stringify({
          architecture: process.arch === 'x64' ? 'amd64' : process.arch,
          os: 'linux',
          config: {},
          rootfs: { type: 'layers', diff_ids: [this.#layer] },
        }),
      ),
    )
    const describe = (mediaType: string, digest: string) => ({
      mediaType: `application/vnd.docker.${mediaType}`,
      digest,
      size: this.#blobs.get(digest)?.length,
    })
    this.#manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
        config: describe('container.image.v1+json', config),
        layers: [describe('image.rootfs.diff.tar', this.#layer)],
      }),
    )
    this.#server = createServer(({ url = '', method }, response) => {
      const [, digest] = /\/blobs\/(.+)$/.exec(url) ?? []
      if (url === '/v2/') response.end('{}')
      else if (/^\/v2\/there\/manifests\//.test(url)) this.#sendManifest(response, method === 'HEAD')
      else if (digest !== undefined && this.#blobs.has(digest)) this.#sendBlob(response, digest)
      else {
        response.writeHead(404, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }))
      }
    })
  }

  /** As an engine is asked for it: `127.0.0.1:PORT/NAME`. Only `there` is there. */
  image(name: 'there' | 'missing'): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #add(content: Buffer): string {
    const digest = digestOf(content)
    this.#blobs.set(digest, content)
    return digest
  }

  #sendManifest(response: ServerResponse, headOnly: boolean): void {
    response.writeHead(200, {
      'content-type': 'application/vnd.docker.distribution.manifest.v2+json',
      'docker-content-digest': digestOf(this.#manifest),
      'content-length': this.#manifest.length,
    })
    response.end(headOnly ? undefined : this.#manifest)
  }

  #sendBlob(response: ServerResponse, digest: string): void {
    const content = this.#blobs.get(digest) ?? Buffer.alloc(0)
    response.writeHead(200, { 'content-length': content.length, 'docker-content-digest': digest })
    if (this.held && digest === this.#layer) response.write(content.subarray(0, content.length / 2))
    else response.end(content)
  }
}

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`
