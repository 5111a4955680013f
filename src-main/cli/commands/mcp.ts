/** `rewind mcp`, `rewind allow`, `rewind token`: agents let in, and how far. */
import { resolve } from 'node:path'
import { visibleName } from '../../contract/text.ts'
import { connectHost, version } from '../../serve/client/index.ts'
import { dataFolder } from '../../serve/home.ts'
import type { Define } from '../command.ts'
import { seconds } from '../numbers.ts'

export const defineMcp: Define = (program, action) => {
  program
    .command('mcp')
    .description('serve the tools for agents on stdin and stdout (the Model Context Protocol)')
    .option('--allow <folder>', 'let this agent begin sessions below it; may be given again', addFolder, [])
    .option('--elicit', 'you sit at this agent: ask you through it where a verifier could not decide')
    .option('--wait <seconds>', 'how long a call may keep the agent waiting before it goes on as pending (50)', seconds)
    .addHelpText('after', '\nWith --session NAME the agent may use that session, also one that you began.')
    .action(
      action<{ allow: string[]; elicit?: boolean; wait?: number }>(async (cli, _operands, { allow, elicit, wait }) => {
        const session = cli.chosen
        const grants = { allow, sessions: session === undefined ? [] : [session], elicit: elicit ?? false }
        const client = await connectHost({ home: dataFolder(), start: true, version, grants })
        try {
          const { serveMcpOnStdio } = await import('../../mcp/index.ts')
          await serveMcpOnStdio({
            host: client.rpc,
            version,
            folder: process.cwd(),
            elicit: elicit ?? false,
            log: (line) => cli.out.note(`rewind mcp: ${visibleName(line)}`),
            ...(session === undefined ? {} : { session }),
            ...(wait === undefined ? {} : { patienceMs: wait * 1000 }),
          })
        } finally {
          client.close()
        }
      }),
    )
  program
    .command('allow')
    .description('let agents begin sessions below a folder; without one, list those that are allowed')
    .argument('[folder]')
    .option('--remove', 'no longer')
    .action(
      action<{ remove?: boolean }>(async (cli, [folder], { remove }) => {
        const rpc = await cli.rpc()
        const { folders } =
          folder === undefined ? await rpc.host.allowed() : await rpc.host.allow({ path: resolve(folder), on: !remove })
        cli.out.result(
          { folders },
          folders.length === 0 ? 'No folder is allowed to agents.' : folders.map(visibleName).join('\n'),
        )
      }),
    )
  program
    .command('token')
    .description('where agents come in over HTTP, and the token that they show')
    .option('--renew', 'make a new one; the old one is void at once')
    .action(
      action<{ renew?: boolean }>(async (cli, _operands, { renew }) => {
        const { url, token } = await (await cli.rpc()).host.mcp({ renew: renew ?? false })
        cli.out.result({ url, token }, `${url}\nAuthorization: Bearer ${token}`)
      }),
    )
}

const addFolder = (folder: string, known: string[]): string[] => [...known, resolve(folder)]
