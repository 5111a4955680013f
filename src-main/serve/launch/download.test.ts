import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { answersInTime } from './download.ts'

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
    expect(Date.now() - began).toBeLessThan(2_000)
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
