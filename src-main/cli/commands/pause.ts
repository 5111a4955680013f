/** `rewind pause`, `rewind unpause`, `rewind stop`: holding a session still, or ending one command of it. */
import type { SessionSummary } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import type { Cli } from '../cli.ts'
import { type Define, given } from '../command.ts'

export const definePause: Define = (program, action) => {
  program
    .command('pause')
    .description('hold every process of a session still; it takes no commands and files until `rewind unpause`')
    .action(
      action(async (cli) => {
        const { rpc, session } = await cli.begin()
        tell(cli, await rpc.sessions.pause({ session }), 'is paused; `rewind unpause` has it go on')
      }),
    )
  program
    .command('unpause')
    .description('have a paused session go on')
    .action(
      action(async (cli) => {
        const { rpc, session } = await cli.begin()
        const now = await rpc.sessions.unpause({ session })
        tell(cli, now, now.halted ? 'goes on, and is halted: see `rewind escalations --all`' : 'goes on')
      }),
    )
  program
    .command('stop')
    .description('end a running command with all that it started')
    .argument('<id>', 'of the command, as `rewind ps` lists it')
    .action(
      action(async (cli, operands) => {
        const [id = ''] = given(operands)
        const { rpc, session } = await cli.begin()
        const { status, code, signal } = await rpc.commands.stop({ session, id })
        cli.out.result({ id, status, code, signal }, `${visibleName(id)} ${status === 'exited' ? 'had ended' : status}`)
      }),
    )
}

function tell(cli: Cli, { name, id, status }: SessionSummary, text: string): void {
  cli.out.result({ session: name, id, status }, `${visibleName(name)} ${text}`)
}
