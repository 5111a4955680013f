/** `rewind init PATH`: a session on a folder, begun or attached to. */
import { isAbsolute, resolve } from 'node:path'
import { Option } from 'commander'
import type { SessionOptions } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { type EngineOptions, withEngineOptions, withImage } from '../engine-options.ts'
import { size } from '../numbers.ts'

type Options = EngineOptions &
  Pick<SessionOptions, 'mode' | 'base' | 'network'> & {
    create?: boolean
    force?: boolean
    budget?: number | null
  }

export const defineInit: Define = (program, action) => {
  const init = program
    .command('init')
    .description('begin a session on a folder, or attach to its live one')
    .argument('<path>', 'the workspace: a folder of yours')
  withEngineOptions(init)
    .addOption(
      new Option('--mode <mode>', 'whether there is a person to ask')
        .choices(['interactive', 'agent'])
        .default('interactive'),
    )
    .addOption(
      new Option('--base <how>', 'copy the folder, or take it as the lowest layer')
        .choices(['auto', 'copy', 'live'])
        .default('auto'),
    )
    .option('--no-network', 'an empty network with loopback up')
    .option('--budget <size>', 'how much it may hold on disk: 500MB, none; 10GB where nothing is said', size)
    .option('--create', 'make the folder where it is missing')
    .option('--force', 'begin anew where a live session exists')
    .action(
      action<Options>(async (cli, [path = '.'], options) => {
        const rpc = await cli.rpc()
        const sandbox = await withImage(cli, rpc, options)
        const { session, attached, created } = await rpc.sessions.create({
          name: cli.newName,
          workspace: resolve(path),
          // '.' may be anywhere; a path that was written out was meant.
          explicit: isAbsolute(path),
          ...sandbox,
          mode: options.mode,
          base: options.base,
          network: options.network,
          create: options.create ?? false,
          force: options.force ?? false,
          ...(options.budget === undefined ? {} : { retention: { budgetBytes: options.budget } }),
        })
        if (created) cli.out.note(`Made ${visibleName(session.workspace)}.`)
        for (const note of session.notes) cli.out.note(visibleName(note))
        cli.out.result(
          {
            path: session.workspace,
            status: session.status,
            session: session.name,
            id: session.id,
            engine: session.engine,
            image: session.image,
            scope: session.scope,
            attached,
            created,
          },
          `${attached ? 'Attached to' : 'Started'} ${visibleName(session.name)} on ${visibleName(session.workspace)} (${session.engine}: ${session.engineDetail})`,
        )
      }),
    )
}
