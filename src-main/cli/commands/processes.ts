/** `rewind ps` and `rewind ports`: what lives in a sandbox now, and having its ports at this machine. */
import { InvalidOptionError } from '../../contract/errors.ts'
import type { Activity, OpenedPort } from '../../contract/index.ts'
import { bytes, visibleName } from '../../contract/text.ts'
import { fromRpcError } from '../../contract/wire.ts'
import type { Cli } from '../cli.ts'
import type { Define } from '../command.ts'
import { port } from '../numbers.ts'
import { ago, table } from '../output.ts'

interface PortOptions {
  open?: number
  at?: number
  close?: number
}

export const defineProcesses: Define = (program, action) => {
  program
    .command('ps')
    .description('processes in the sandbox, with the command that each is of')
    .action(
      action(async (cli) => {
        const { rpc, session } = await cli.begin()
        const { processes } = await rpc.processes.list({ session })
        cli.out.result({ processes, count: processes.length }, processText(processes))
      }),
    )
  program
    .command('ports')
    .description('ports that processes in the sandbox listen on, and where this machine reaches them')
    .option(
      '--open <port>',
      "open a port of the sandbox at this machine's loopback, until it is closed or the session ends",
      port,
    )
    .option(
      '--at <port>',
      "with --open: this machine's port; one that is free by default, its own number if it can be",
      port,
    )
    .option('--close <port>', 'close a port that was opened; connections through it are broken off', port)
    .action(
      action<PortOptions>(async (cli, _operands, options) => {
        assertOne(options)
        const { open, at = null, close } = options
        if (open !== undefined) return openPort(cli, open, at)
        if (close !== undefined) return closePort(cli, close)
        return listPorts(cli)
      }),
    )
}

async function listPorts(cli: Cli): Promise<void> {
  const { rpc, session } = await cli.begin()
  try {
    const { ports, opened } = await rpc.processes.list({ session })
    cli.out.result({ ports, opened, count: ports.length }, portText(ports, opened))
  } catch (error) {
    const opened = (await rpc.ports.list({ session })).map((one) => ({ ...one, listening: null }))
    if (opened.length === 0) throw error
    // They can be closed all the same.
    const problem = fromRpcError(error).message
    const text = `${portText([], opened)}\nWhat listens is not known: ${visibleName(problem)}`
    cli.out.result({ ports: [], opened, count: 0, problem }, text)
  }
}

function assertOne({ open, at, close }: PortOptions): void {
  if (open !== undefined && close !== undefined)
    throw new InvalidOptionError('A port is opened or closed, not both.', { nextStep: 'Give --open or --close.' })
  if (at !== undefined && open === undefined)
    throw new InvalidOptionError('--at says where --open has a port opened.', {
      nextStep: 'For example: rewind ports --open 3000 --at 8080',
    })
}

async function openPort(cli: Cli, port: number, at: number | null): Promise<void> {
  const { rpc, session } = await cli.begin()
  const opened = await rpc.ports.open({ session, port, at })
  const why = opened.shared ? ": the sandbox has this machine's network, and nothing had to be opened" : ''
  cli.out.result(opened, `Port ${port} is reached at ${opened.url}${why}`)
}

async function closePort(cli: Cli, port: number): Promise<void> {
  const { rpc, session } = await cli.begin()
  const { closed } = await rpc.ports.close({ session, port })
  cli.out.result({ port, closed }, closed ? `Port ${port} is closed` : `Port ${port} was not opened`)
}

function processText(processes: Activity['processes']): string {
  if (processes.length === 0) return 'Nothing runs.'
  return table([
    ['PID', 'STARTED', 'CPU', 'MEMORY', 'COMMAND ID', 'PROCESS'],
    ...processes.map(({ pid, startedAt, cpuMs, rssBytes, commandId, command }) => [
      String(pid),
      ago(startedAt),
      `${(cpuMs / 1000).toFixed(1)} s`,
      bytes(rssBytes),
      commandId === null ? '-' : visibleName(commandId),
      visibleName(command),
    ]),
  ])
}

/** @param opened where it is not known whether anything listens, `listening` is null */
function portText(ports: Activity['ports'], opened: (OpenedPort & { listening: boolean | null })[]): string {
  const silent = opened.filter(({ listening }) => !listening)
  if (ports.length === 0 && silent.length === 0) return 'Nothing listens.'
  return table([
    ['PORT', 'ADDRESS', 'PID', 'REACHED AT', 'PROCESS'],
    ...ports.map(({ port, address, pid, url, command }) => [
      String(port),
      visibleName(address),
      String(pid),
      url ?? 'inside only',
      visibleName(command),
    ]),
    ...silent.map(({ port, url, listening }) => [
      String(port),
      '-',
      '-',
      url,
      listening === null ? 'not known' : 'nothing listens',
    ]),
  ])
}
