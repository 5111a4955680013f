/** Whether docker's tests can run here, as the product itself sees it: one line of JSON for parts.ts. */
import { RewindError } from '../../src-main/contract/errors.ts'
import { connectDocker, imageState, productImage } from '../../src-main/sandbox/index.ts'
import type { Presence } from '../parts.ts'

async function look(): Promise<Presence> {
  try {
    const { docker } = await connectDocker()
    if ((await imageState(docker, productImage())) === 'present') return { ok: true }
    return { ok: false, reason: `no image ${productImage()}`, remedy: 'make it by e2e/docker/test-image.sh, as root' }
  } catch (error) {
    if (!(error instanceof RewindError)) throw error
    return { ok: false, reason: error.message, remedy: 'as root: e2e/docker/engine.sh' }
  }
}

console.log(JSON.stringify(await look()))
