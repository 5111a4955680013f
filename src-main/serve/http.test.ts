import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { offeredWith } from '../contract/sign-in.ts'
import type { Host } from './host.ts'
import { removeHome, startFakeHost, tempHome } from './test-support.ts'

let home: string
let window: string
let host: Host
let port: number
let url: string

beforeAll(async () => {
  home = tempHome()
  window = mkdtempSync(join(tmpdir(), 'rewind-window-'))
  writeFileSync(join(window, 'index.html'), '<title>Rewind</title>')
  mkdirSync(join(window, 'assets'))
  writeFileSync(join(window, 'assets/app.js'), 'export {}')
  writeFileSync(join(window, 'assets/app.js.map'), '{}')
  host = await startFakeHost(home, undefined, { renderer: window })
  url = host.info().url ?? ''
  port = Number(new URL(url).port)
})

afterAll(async () => {
  await host.close()
  removeHome(home)
  rmSync(window, { recursive: true, force: true })
})

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

/** A request whose path and headers go out exactly as given; fetch would tidy them. */
function send(path: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, path, method, headers, setHost: !('host' in headers) },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          text += part
        })
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

const auth = (code: unknown, headers: Record<string, string> = { origin: url }) =>
  send('/auth', { method: 'POST', headers, body: JSON.stringify({ code }) })

const freshCode = () => host.browserUrl().split('#code=')[1] ?? ''

async function signIn(): Promise<string> {
  const { body } = await auth(freshCode())
  return (JSON.parse(body) as { key: string }).key
}

/** @returns the status with which the WebSocket was refused, or 101 */
function upgrade({ key, ...headers }: Record<string, string>, path = '/rpc'): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, offeredWith(key ?? null), { headers })
    socket.once('open', () => {
      // A page whose offer is not answered hangs up; the key is not to be said aloud.
      expect(socket.protocol).toBe('rewind')
      socket.close()
      resolve(101)
    })
    socket.once('unexpected-response', (_request, answer) => resolve(answer.statusCode ?? 0))
    socket.once('error', () => {})
  })
}

describe('the page', () => {
  test('is served with a policy that lets nothing in', async () => {
    const { status, headers, body } = await send('/')
    expect([status, body]).toEqual([200, '<title>Rewind</title>'])
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(headers['content-security-policy']).toContain("script-src 'self';")
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' })
  })

  test('assets have their types', async () => {
    expect((await send('/assets/app.js')).headers['content-type']).toContain('text/javascript')
  })

  test.each([
    '/../host.json',
    '/%2e%2e/host.json',
    '/assets/..%2f..%2fhost.json',
    '//etc/passwd',
    '/assets/app.js.map',
    '/%',
  ])('nothing else: %s', async (path) => {
    expect((await send(path)).status).toBe(404)
  })

  test('a file that comes later is found', async () => {
    writeFileSync(join(window, 'assets/later.js'), '')
    await expect.poll(async () => (await send('/assets/later.js')).status, { timeout: 4_000 }).toBe(200)
  })

  test.each(['evil.example', `evil.example:1`, '127.0.0.1', 'localhost:1'])(
    'a foreign Host is refused: %s',
    async (name) => {
      expect((await send('/', { headers: { host: name } })).status).toBe(403)
    },
  )

  test('localhost is us too', async () => {
    expect((await send('/', { headers: { host: `localhost:${port}` } })).status).toBe(200)
  })

  test('only reading', async () => {
    expect((await send('/', { method: 'PUT' })).status).toBe(405)
  })
})

describe('signing in', () => {
  test('a code is exchanged for a key, which no cookie carries to other ports of this machine', async () => {
    const { status, headers, body } = await auth(freshCode())
    expect([status, headers['set-cookie'], headers['cache-control']]).toEqual([200, undefined, 'no-store'])
    expect(JSON.parse(body)).toEqual({ key: expect.stringMatching(/^[\w-]{40,}$/) })
  })

  test('a used code is refused and says what to do', async () => {
    const code = freshCode()
    await auth(code)
    const { status, body } = await auth(code)
    expect(status).toBe(403)
    expect(JSON.parse(body)).toEqual({
      message: expect.stringContaining('used already'),
      nextStep: expect.stringContaining('rewind open'),
    })
  })

  test.each<[string, unknown, number]>([
    ['a wrong code', 'wrong', 403],
    ['no code', undefined, 400],
    ['a code that is no text', 7, 400],
    ['far too much', 'x'.repeat(10_000), 400],
  ])('%s', async (_title, code, status) => {
    expect((await auth(code)).status).toBe(status)
  })

  test('a foreign or missing Origin is refused, and the code stays good', async () => {
    const code = freshCode()
    expect((await auth(code, { origin: 'http://evil.example' })).status).toBe(403)
    expect((await auth(code, { origin: `https://127.0.0.1:${port}` })).status).toBe(403)
    expect((await auth(code, {})).status).toBe(403)
    expect((await auth(code)).status).toBe(200)
  })

  test('it is not done by GET', async () => {
    expect((await send('/auth')).status).toBe(405)
  })
})

describe('the WebSocket', () => {
  test('opens for our page with a key', async () => {
    expect(await upgrade({ origin: url, key: await signIn() })).toBe(101)
    expect(await upgrade({ origin: `http://localhost:${port}`, key: await signIn() })).toBe(101)
  })

  test('not without a key, nor with a wrong one or one in a cookie', async () => {
    const key = await signIn()
    expect(await upgrade({ origin: url })).toBe(401)
    expect(await upgrade({ origin: url, key: `${key}x` })).toBe(401)
    expect(await upgrade({ origin: url, cookie: `rewind_${port}=${key}` })).toBe(401)
  })

  test('not from another page, nor from none', async () => {
    const key = await signIn()
    expect(await upgrade({ origin: 'http://evil.example', key })).toBe(403)
    expect(await upgrade({ origin: 'null', key })).toBe(403)
    expect(await upgrade({ key })).toBe(403)
  })

  test('not under another name', async () => {
    const key = await signIn()
    expect(await upgrade({ origin: url, host: 'evil.example', key })).toBe(403)
    expect(await upgrade({ origin: 'http://evil.example', host: 'evil.example', key })).toBe(403)
  })

  test('nowhere else', async () => {
    expect(await upgrade({ origin: url, key: await signIn() }, '/other')).toBe(404)
  })
})

test('the port answers on loopback alone', async () => {
  const { networkInterfaces } = await import('node:os')
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((address) => address && !address.internal && address.family === 'IPv4')?.address
  // A machine without a network has nowhere else to be reached.
  if (outside) await expect(fetch(`http://${outside}:${port}/`)).rejects.toThrow()
})
