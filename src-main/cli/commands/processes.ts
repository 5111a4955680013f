/** `rewind ps` and `rewind ports`: what lives in a sandbox now. */
import type { Activity } from '../../contract/index.ts'
import { bytes, visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { ago, table } from '../output.ts'

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
    .action(
      action(async (cli) => {
        const { rpc, session } = await cli.begin()
        const { ports } = await rpc.processes.list({ session })
        cli.out.result({ ports, count: ports.length }, portText(ports))
      }),
    )
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

function portText(ports: Activity['ports']): string {
  if (ports.length === 0) return 'Nothing listens.'
  return table([
    ['PORT', 'ADDRESS', 'PID', 'REACHED AT', 'PROCESS'],
    ...ports.map(({ port, address, pid, url, command }) => [
      String(port),
      visibleName(address),
      String(pid),
      url ?? 'inside only',
      visibleName(command),
    ]),
  ])
}
