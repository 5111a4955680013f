/** `rewind serve`, `rewind open`, `rewind doctor`: the host itself, its window, and what the machine offers. */

import { visibleName } from '../../contract/text.ts'
import { packageRoot, version } from '../../serve/client/index.ts'
import { dataFolder } from '../../serve/home.ts'
import type { Host } from '../../serve/index.ts'
import type { Cli } from '../cli.ts'
import type { Define } from '../command.ts'
import { port } from '../numbers.ts'
import { table } from '../output.ts'

export const defineHost: Define = (program, action) => {
  program
    .command('serve')
    .description('keep a host in this terminal until Ctrl-C')
    .option('--headless', 'give no sign-in address for a browser')
    .option('--port <number>', 'the loopback port', port)
    .action(
      action<{ headless?: boolean; port?: number }>(async (cli, _operands, options) => {
        const { rendererFolder, startHost } = await import('../../serve/index.ts')
        const host = await startHost(
          {
            home: dataFolder(),
            kind: 'headless',
            version,
            renderer: rendererFolder,
            ...(options.port === undefined ? {} : { port: options.port }),
          },
          { takeOver: true },
        )
        await keep(cli, host, options.headless ?? false)
      }),
    )
  program
    .command('open')
    .description('open the window, on the session that --session names')
    .option('--at <point>', 'the point to show')
    .option('--start', 'fetch Electron first where that is possible')
    .action(
      action<{ start?: boolean; at?: string }>(async (cli, _operands, { start, at }) => {
        // Before the window is there: it goes to what was wanted last.
        if (at !== undefined || cli.isNamed) {
          const session = await cli.session()
          await (await cli.rpc()).host.show({ session, at: at ?? null })
        }
        const { ensureHome, openWindow } = await import('../../serve/index.ts')
        const opened = await openWindow({
          home: ensureHome(dataFolder()),
          url: async () => (await (await cli.rpc()).host.browserUrl()).url,
          download: start ?? false,
          say: (line) => (cli.out.json ? cli.out.note(line) : cli.out.line(line)),
        })
        cli.out.result({ way: opened.way, pid: opened.pid }, '')
      }),
    )
  program
    .command('doctor')
    .description('what this machine offers, and how to have what is missing')
    .action(
      action(async (cli) => {
        const checks = await (await cli.rpc()).host.doctor()
        const rows = checks.map(({ name, ok, detail }) => [ok ? 'ok' : '--', name, visibleName(detail)])
        const remedies = checks.flatMap(({ name, ok, remedy }) =>
          ok || remedy === null ? [] : [`${name}: ${visibleName(remedy)}`],
        )
        cli.out.result(
          { checks, version, node: process.version, package: packageRoot },
          [table(rows), ...remedies].join('\n'),
        )
      }),
    )
}

async function keep(cli: Cli, host: Host, headless: boolean): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void host.close())
  const { url, pid, home } = host.info()
  cli.out.result(
    { url, pid, home, version },
    headless
      ? `Serving ${visibleName(home)} at ${url} (Ctrl-C ends it; sandboxes go on)`
      : `Open ${host.browserUrl()} within a minute\nServing ${visibleName(home)} (Ctrl-C ends it; sandboxes go on; \`rewind open\` gives a new address)`,
  )
  const why = await host.closed
  cli.out.note(why === 'handed-over' ? 'Another host took over.' : 'Ended.')
}
