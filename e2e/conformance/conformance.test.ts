/**
 * The official conformance suite, in both revisions: the product's transport with the tools that the suite calls by name,
 * which only this test mounts, and the product itself in all that needs none of them.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMcpEndpoint, type McpEndpoint } from '../../src-main/mcp/index.ts'
import { TestHost } from '../host.ts'
import { fixtureServer } from './fixture-server.ts'
import { notRun } from './not-run.ts'
import { runSuite } from './suite.ts'
import { type TokenProxy, tokenProxy } from './token-proxy.ts'

/** The suite runs a whole revision at once. */
const LONG = 400_000
/** Where a request comes from is the server's to judge, not the transport's. */
const ASKED_OF_THE_PRODUCT = ['dns-rebinding-protection']

describe.each(['2025-11-25', '2026-07-28'])('the transport, %s', (revision) => {
  let server: Server
  let endpoint: McpEndpoint
  beforeAll(async () => {
    endpoint = createMcpEndpoint(fixtureServer)
    server = createServer((request, response) => void endpoint.handle(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    await endpoint.close()
    server.close()
    server.closeAllConnections()
  })

  test(
    'passes all that the revision requires',
    async () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
      const all = await runSuite(url, ['--requirements', revision])
      const judged = all.filter(({ name }) => !(name in notRun) && !ASKED_OF_THE_PRODUCT.includes(name))
      expect(judged.length).toBeGreaterThan(15)
      expect(judged.filter(({ failures, passed }) => failures.length > 0 || passed === 0)).toEqual([])
    },
    LONG,
  )
})

describe('the product', () => {
  let host: TestHost
  let proxy: TokenProxy
  beforeAll(async () => {
    host = await TestHost.begin()
    const { url, token } = await host.json<{ url: string; token: string }>('token')
    proxy = await tokenProxy(url, token)
  })
  afterAll(async () => {
    proxy?.close()
    await host?.end()
  })

  test.each([
    ['2025-11-25', 'server-initialize'],
    ['2025-11-25', 'server-session-lifecycle'],
    ['2025-11-25', 'ping'],
    ['2025-11-25', 'tools-list'],
    ['2025-11-25', 'server-sse-multiple-streams'],
    ['2025-11-25', 'dns-rebinding-protection'],
    ['2026-07-28', 'tools-list'],
    ['2026-07-28', 'server-sse-multiple-streams'],
    ['2026-07-28', 'http-header-validation'],
    ['2026-07-28', 'dns-rebinding-protection'],
  ])('%s %s', async (revision, scenario) => {
    const [found] = await runSuite(proxy.url, ['--scenario', scenario, '--spec-version', revision])
    expect(found?.failures).toEqual([])
    expect(found?.passed).toBeGreaterThan(0)
  })
})
