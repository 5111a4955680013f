import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttp, type Server } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EngineUnavailableError } from '../../contract/index.ts'
import { connectDocker, engineAddress } from './connect.ts'

let folder: string
let socket: string
const servers: { close(): unknown }[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rewind-docker-'))
  socket = join(folder, 'docker.sock')
})

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  rmSync(folder, { recursive: true, force: true })
})

async function listening<T extends Server | ReturnType<typeof createServer>>(server: T): Promise<T> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return server
}

/** An engine by what it says of itself, and nothing else. */
const engineThatSays = (about: object) =>
  listening(
    createHttp((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(about))
    }),
  )

const failureOf = async (env: NodeJS.ProcessEnv) => {
  const failure = await connectDocker(env).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(EngineUnavailableError)
  return failure as EngineUnavailableError
}

describe('an engine that cannot be used says why and what to do', () => {
  const current = { Version: '28.2.2', ApiVersion: '1.50', Os: 'linux', Arch: 'amd64' }

  test('one that can is told with version and architecture', async () => {
    await engineThatSays(current)
    expect(await connectDocker({ DOCKER_HOST: `unix://${socket}` })).toMatchObject({
      version: '28.2.2',
      architecture: 'amd64',
    })
  })

  test('no socket', async () => {
    const { message, nextStep } = await failureOf({ DOCKER_HOST: `unix://${socket}` })
    expect(message).toBe(`No docker engine listens at ${socket}.`)
    expect(nextStep).toMatch(/Install docker/)
  })

  test('a socket that a dead engine left', async () => {
    writeFileSync(socket, '')
    const { message } = await failureOf({ DOCKER_HOST: `unix://${socket}` })
    expect(message).toMatch(/nobody listens there/)
  })

  test.skipIf(process.getuid?.() === 0)('a socket that this user may not open', async () => {
    await engineThatSays(current)
    chmodSync(socket, 0)
    const { message, nextStep } = await failureOf({ DOCKER_HOST: `unix://${socket}` })
    expect(message).toMatch(/may not be opened by this user/)
    expect(nextStep).toMatch(/group docker/)
  })

  test('one that takes the connection and says nothing', async () => {
    await listening(createServer((client) => client.on('error', () => {})))
    const { message } = await failureOf({ DOCKER_HOST: `unix://${socket}` })
    expect(message).toBe(`The docker engine at unix://${socket} does not answer.`)
  })

  test('something else that listens there', async () => {
    await listening(createServer((client) => client.end('SSH-2.0-OpenSSH\r\n')))
    const { message } = await failureOf({ DOCKER_HOST: `unix://${socket}` })
    expect(message).toMatch(/cannot be asked who it is/)
  })

  test('one that is too old', async () => {
    await engineThatSays({ ...current, Version: '19.03.15', ApiVersion: '1.40' })
    const { message, nextStep } = await failureOf({ DOCKER_HOST: `unix://${socket}` })
    expect(message).toMatch(/too old: 19\.03\.15, API 1\.40/)
    expect(nextStep).toMatch(/20\.10/)
  })

  test('one that runs Windows containers', async () => {
    await engineThatSays({ ...current, Os: 'windows' })
    const { nextStep } = await failureOf({ DOCKER_HOST: `unix://${socket}` })
    expect(nextStep).toMatch(/Linux containers/)
  })

  test.each(['tcp://192.0.2.1:2375', 'ssh://me@192.0.2.1', '192.0.2.1:2375'])('another machine: %s', async (host) => {
    const { message } = await failureOf({ DOCKER_HOST: host })
    expect(message).toMatch(/is not this machine's/)
  })
})

describe('where it is looked for, as docker itself does', () => {
  function context(name: string, host: string): void {
    const meta = join(folder, 'contexts/meta', createHash('sha256').update(name).digest('hex'))
    mkdirSync(meta, { recursive: true })
    writeFileSync(join(meta, 'meta.json'), JSON.stringify({ Name: name, Endpoints: { docker: { Host: host } } }))
  }
  const choose = (currentContext: string) =>
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ currentContext }))

  test('DOCKER_HOST wins over the current context', () => {
    context('desktop', 'unix:///desktop.sock')
    choose('desktop')
    expect(engineAddress({ DOCKER_CONFIG: folder, DOCKER_HOST: 'unix:///host.sock' })).toBe('unix:///host.sock')
    expect(engineAddress({ DOCKER_CONFIG: folder })).toBe('unix:///desktop.sock')
  })

  test('DOCKER_CONTEXT wins over the one that the settings name', () => {
    context('desktop', 'unix:///desktop.sock')
    context('rootless', 'unix:///rootless.sock')
    choose('desktop')
    expect(engineAddress({ DOCKER_CONFIG: folder, DOCKER_CONTEXT: 'rootless' })).toBe('unix:///rootless.sock')
  })

  test('without a context, or with the one called default, it is the usual socket', () => {
    choose('default')
    for (const config of [folder, join(folder, 'none')])
      expect(engineAddress({ DOCKER_CONFIG: config })).toMatch(/^unix:\/\/.*docker\.sock$/)
  })

  test('a context that says no address is named', () => {
    choose('gone')
    expect(() => engineAddress({ DOCKER_CONFIG: folder })).toThrow(/current context is gone/)
  })
})
