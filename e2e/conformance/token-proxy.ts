/** Shows the token for a client that cannot: the suite has no option for one. What else a request says stays as it is. */
import { createServer, type Server, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface TokenProxy {
  url: string
  close(): void
}

export async function tokenProxy(target: string, token: string): Promise<TokenProxy> {
  const to = new URL(target)
  const server: Server = createServer((request, response) => {
    const own = `127.0.0.1:${(server.address() as AddressInfo).port}`
    // To itself it is the host; under a forged name it must be refused as the host would be.
    const asTheirs = (value: string | undefined) =>
      value?.replace(own, to.host).replace(own.replace('127.0.0.1', 'localhost'), to.host)
    const { host, origin, ...rest } = request.headers
    const headers = {
      ...rest,
      authorization: `Bearer ${token}`,
      host: asTheirs(host) ?? '',
      ...(origin === undefined ? {} : { origin: asTheirs(origin) ?? '' }),
    }
    const passed = send(to, { method: request.method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${to.pathname}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
