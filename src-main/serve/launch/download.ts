/**
 * Electron's binary, fetched where it is missing. Nobody should wait for a network that is not there: unless the
 * server sends a first byte within five seconds, the next kind of window is opened instead.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { electronBinary } from './facts.ts'

const FIRST_BYTE_MS = 5_000
const RELEASES = 'https://github.com/electron/electron/releases/download/'

/**
 * Runs the downloader that the npm package of Electron brings, showing its progress. Enter skips it.
 * @returns the binary, or why there is none
 */
export async function downloadElectron(
  folder: string,
  say: (line: string) => void,
): Promise<{ binary: string } | { why: string }> {
  const why = await answersInTime(releaseUrl(folder))
  if (why !== null) return { why }
  const canSkip = process.stdin.isTTY === true
  say(`Downloading Electron (about 110 MB).${canSkip ? ' Enter skips it.' : ''}`)
  const outcome = await runInstaller(folder, canSkip)
  const binary = electronBinary(folder)
  return binary !== null && outcome === null ? { binary } : { why: outcome ?? 'its download left no binary' }
}

/** As @electron/get builds it, mirrors included. */
function releaseUrl(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const mirror = process.env.npm_config_electron_mirror ?? process.env.ELECTRON_MIRROR ?? RELEASES
  return `${mirror}v${version}/electron-v${version}-${process.platform}-${process.arch}.zip`
}

/** @returns null once a first byte came, else why none did */
export async function answersInTime(url: string, timeoutMs = FIRST_BYTE_MS): Promise<string | null> {
  const abort = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, { headers: { range: 'bytes=0-0' }, signal: abort })
    const first = await response.body?.getReader().read()
    if (response.ok && first?.value?.length) return null
    return `its binary is not installed and its server answers ${response.status}`
  } catch {
    return abort.aborted
      ? `its binary is not installed and its server sent nothing within ${timeoutMs / 1000} s`
      : 'its binary is not installed and its server cannot be reached'
  }
}

function runInstaller(folder: string, canSkip: boolean): Promise<string | null> {
  const installer = spawn(process.execPath, [join(folder, 'install.js')], { stdio: ['ignore', 'inherit', 'inherit'] })
  return new Promise((resolve) => {
    let skipped = false
    const skip = () => {
      skipped = true
      installer.kill()
    }
    const done = (why: string | null) => {
      if (canSkip) process.stdin.off('data', skip).pause()
      resolve(skipped ? 'its download was skipped' : why)
    }
    if (canSkip) process.stdin.on('data', skip).resume()
    installer.once('error', (error) => done(`its download failed: ${error.message}`))
    installer.once('exit', (code) => done(code === 0 ? null : 'its download failed'))
  })
}
