/** `rewind destroy`: the sandbox and its layers gone, the record kept. */

import { visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { count } from '../output.ts'
import { canAsk, confirm } from '../prompt.ts'

export const defineDestroy: Define = (program, action) => {
  program
    .command('destroy')
    .description('remove the sandbox with its layers; timeline, messages and ledger stay')
    .option('-y, --yes', 'do not ask')
    .action(
      action<{ yes?: boolean }>(async (cli, _operands, { yes }) => {
        const { rpc, session } = await cli.begin()
        if (!yes && !cli.out.json && canAsk()) {
          const { counts } = await rpc.files.changes({ session, from: 'base', to: 'now', limit: 1 })
          const changed = counts.added + counts.modified + counts.deleted
          if (changed > 0)
            await confirm(
              `${count(changed, 'changed file')} of ${visibleName(session)} will be gone for good. Destroy it?`,
            )
        }
        const gone = await rpc.sessions.destroy({ session })
        cli.out.result(
          { session: gone.name, id: gone.id, status: gone.status, workspace: gone.workspace },
          `Destroyed ${visibleName(gone.name)} (its workspace ${visibleName(gone.workspace)} ${gone.demo ? 'was the demo’s own' : 'stays as it is'})`,
        )
      }),
    )
}
