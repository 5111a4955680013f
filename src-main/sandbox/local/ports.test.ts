/** What connects to ports of a sandbox without a network is in that network, and has no rights. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { eventually, World } from '../conformance/world.ts'
import { localSource } from './for-tests.ts'

const SERVER = `exec node -e "require('net').createServer((s) => s.pipe(s)).listen(0, '127.0.0.1')"`

/** Processes of this one that connect, by their numbers. */
const relays = (): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      const parent = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[1]
      return parent === String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('port-relay')
    } catch {
      return false
    }
  })

suiteNeeding(['local'], 'the relay of a sandbox without a network', () => {
  test.each(['detach', 'end'] as const)(
    'is the agent’s user in that network alone, without rights, and goes: %s',
    async (how) => {
      const world = await World.make(localSource)
      const { sandbox } = await world.sandbox({ network: false })
      await sandbox.exec({ id: 'server', command: SERVER })
      const ports = async () => (await sandbox.activity()).ports
      await eventually('it listens', async () => (await ports()).length === 1)
      const connection = await sandbox.connect((await ports())[0]?.port ?? 0)
      connection.on('error', () => {})
      const [relay = '', ...others] = relays()
      expect(others).toEqual([])
      const status = readFileSync(`/proc/${relay}/status`, 'utf8')
      const line = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]
      const own = process.getuid?.() ?? 0
      expect(line('Uid')?.split('\t')).toEqual(Array(4).fill(String(own === 0 ? 1000 : own)))
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) expect(line(set)).toBe('0'.repeat(16))
      expect(line('NoNewPrivs')).toBe('1')
      const namespace = (kind: string) => readlinkSync(`/proc/${relay}/ns/${kind}`)
      const ours = (kind: string) => readlinkSync(`/proc/self/ns/${kind}`)
      expect(namespace('net')).not.toBe(ours('net'))
      expect([namespace('pid'), namespace('mnt')]).toEqual([ours('pid'), ours('mnt')])
      expect((await sandbox.activity()).processes).toHaveLength(1)
      await sandbox[how]()
      await eventually('it has ended', () => relays().length === 0)
    },
  )
})
