/** An agent's connection, whatever it asks for by itself: here without the tools, straight on the socket. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { contract, DeclinedError, fromRpcError } from '../contract/index.ts'
import { connectHost, type HostClient } from './client/index.ts'
import type { Host } from './host.ts'
import { removeHome, startFakeHost, tempHome } from './test-support.ts'

/** What agents' tools need; all else in the contract, today's and tomorrow's, is a person's. */
const AGENTS = [
  'commands.get',
  'commands.list',
  'commands.output',
  'commands.start',
  'commands.stop',
  'commands.wait',
  'commit.list',
  'commit.preview',
  'engines.making',
  'escalations.get',
  'escalations.list',
  'escalations.wait',
  'files.changes',
  'files.pair',
  'files.read',
  'files.write',
  'host.info',
  'ledger.list',
  'ledger.verify',
  'messages.get',
  'messages.list',
  'messages.validity',
  'messages.sync',
  'rules.autoCheckpoint',
  'rules.autoRollback',
  'rules.get',
  'rules.lastAutoRollback',
  'rules.onToolCall',
  'rules.onToolResult',
  'rules.onTurn',
  'rules.runTests',
  'sessions.create',
  'sessions.destroy',
  'sessions.get',
  'sessions.list',
  'timeline.checkpoint',
  'timeline.get',
  'timeline.missed',
  'timeline.preview',
  'timeline.rollback',
  'tools.begin',
  'tools.end',
]

let home: string
let host: Host
let agent: HostClient

beforeEach(async () => {
  home = tempHome()
  host = await startFakeHost(home)
  agent = await connectHost({ home, start: false, grants: { allow: [], sessions: [] } })
})
afterEach(async () => {
  agent.close()
  await host.close()
  removeHome(home)
})

type Callable = Record<string, (input?: unknown) => Promise<unknown>>

const procedures = Object.entries(contract).flatMap(([family, of]) =>
  '~orpc' in of ? [family] : Object.keys(of).map((name) => `${family}.${name}`),
)

test.each(procedures)('%s', async (procedure) => {
  const [family = '', name] = procedure.split('.')
  const of = agent.rpc[family as keyof typeof agent.rpc] as unknown as Callable
  const call = name === undefined ? (of as unknown as Callable[string]) : of[name]
  const error = await call?.({}).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (AGENTS.includes(procedure)) expect(error).not.toBeInstanceOf(DeclinedError)
  else expect(error).toBeInstanceOf(DeclinedError)
})

test('commands as root are not an agent’s to run, those as itself are', async () => {
  const start = (user: 'agent' | 'root') =>
    agent.rpc.commands.start({ session: 'any', id: 'one', command: 'id', user }).catch((error: unknown) => error)
  expect(await start('root')).toBeInstanceOf(DeclinedError)
  expect(await start('agent')).not.toBeInstanceOf(DeclinedError)
})

test('a connection through which a person is asked hands on their answers, and takes nobody else’s place', async () => {
  const asking = await connectHost({ home, start: false, grants: { allow: [], sessions: [], elicit: true } })
  const errorOf = (work: Promise<unknown>) => work.catch((error: unknown) => fromRpcError(error))
  const answer = (more: { via: 'window' | 'elicitation'; handler?: boolean }) =>
    errorOf(asking.rpc.escalations.answer({ id: 'esc-1', resolution: 'stop', ...more }))
  expect(await answer({ via: 'window' })).toBeInstanceOf(DeclinedError)
  expect(await answer({ via: 'elicitation', handler: true })).toBeInstanceOf(DeclinedError)
  expect(await answer({ via: 'elicitation' })).not.toBeInstanceOf(DeclinedError)
  const watch = async (as: 'window' | 'handler') => (await asking.rpc.escalations.watch({ as, session: 'any' })).next()
  expect(await errorOf(watch('window'))).toBeInstanceOf(DeclinedError)
  expect(await errorOf(watch('handler'))).toBeInstanceOf(DeclinedError)
  expect(await errorOf(asking.rpc.sessions.resume({ session: 'any' }))).toBeInstanceOf(DeclinedError)
  asking.close()
})

test('a person may ask for all of it', async () => {
  const person = await connectHost({ home, start: false })
  expect((await person.rpc.host.browserUrl()).url).toContain('#code=')
  expect((await person.rpc.host.mcp({})).token).not.toBe('')
  person.close()
})

test('what was asked for when the connection was opened cannot be taken back', async () => {
  const { LocalSocket } = await import('./client/local-socket.ts')
  const { socketPath } = await import('./socket-path.ts')
  for (const door of ['/rpc/agent/../', '/rpc/agents', '/rpc/', '/rpc/person', '//rpc'])
    await expect(LocalSocket.open(socketPath(home), door)).rejects.toThrow('404')
})
