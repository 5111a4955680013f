import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { answersInTime, downloadElectron } from './download.ts'

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serving(listener: RequestListener): Promise<string> {
  server = createServer(listener)
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe('whether a download is worth waiting for', () => {
  test('a server that sends a byte', async () => {
    const url = await serving((_request, response) => response.writeHead(206).end('P'))
    expect(await answersInTime(url)).toBeNull()
  })

  test('a server that has no such file', async () => {
    const url = await serving((_request, response) => response.writeHead(404).end('no'))
    expect(await answersInTime(url)).toBe('its binary is not installed and its server answers 404')
  })

  test('a server that keeps silent is given up', async () => {
    const url = await serving(() => {})
    const began = Date.now()
    expect(await answersInTime(url, 200)).toBe('its binary is not installed and its server sent nothing within 0.2 s')
    expect(Date.now() - began).toBeLessThan(20_000)
  })

  test('headers without a byte are silence too', async () => {
    const url = await serving((_request, response) => response.writeHead(200).flushHeaders())
    expect(await answersInTime(url, 200)).toMatch(/sent nothing within/)
  })

  test('no server', async () => {
    const url = await serving(() => {})
    server?.close()
    expect(await answersInTime(url)).toBe('its binary is not installed and its server cannot be reached')
  })
})

describe('fetching the binary', () => {
  let folder: string
  let asked: (string | undefined)[]

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'electron-'))
    writeFileSync(join(folder, 'package.json'), '{ "version": "45.5.0" }')
    asked = []
    const mirror = await serving((request, response) => {
      asked.push(request.url)
      response.writeHead(206).end('P')
    })
    vi.stubEnv('ELECTRON_MIRROR', mirror)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })

  /** Stands for the downloader that the npm package brings. */
  const installer = (script: string) => writeFileSync(join(folder, 'install.js'), `const fs = require('fs'); ${script}`)

  test('runs the package’s own downloader once its server answers', async () => {
    installer(
      `process.chdir(__dirname); fs.mkdirSync('dist'); fs.writeFileSync('dist/electron', ''); fs.writeFileSync('path.txt', 'electron')`,
    )
    const said: string[] = []
    const outcome = await downloadElectron(folder, (line) => void said.push(line))
    expect(outcome).toEqual({ binary: join(folder, 'dist/electron') })
    expect(asked).toEqual([`/v45.5.0/electron-v45.5.0-${process.platform}-${process.arch}.zip`])
    expect(said[0]).toMatch(/^Downloading Electron/)
  })

  test.each([
    ['fails', 'process.exit(1)', 'its download failed'],
    ['leaves nothing', '', 'its download left no binary'],
  ])('a downloader that %s', async (_what, script, why) => {
    installer(script)
    expect(await downloadElectron(folder, () => {})).toEqual({ why })
  })
})
