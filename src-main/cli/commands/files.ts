/** `rewind write` and `rewind read`: single files in the sandbox, bytes as they are. */
import { visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { readStdin } from '../prompt.ts'

export const defineFiles: Define = (program, action) => {
  program
    .command('write')
    .description('write a file in the sandbox, with its folders')
    .argument('<path>', 'relative to the workspace, or absolute beneath it')
    .argument('<content>', 'the text; - takes stdin, bytes as they come')
    .action(
      action(async (cli, [path = '', content = '']) => {
        const { rpc, session } = await cli.begin('acts')
        const what =
          content === '-'
            ? { content: (await readStdin()).toString('base64'), encoding: 'base64' as const }
            : { content, encoding: 'utf-8' as const }
        const written = await rpc.files.write({ session, path, ...what })
        cli.out.result({ ...written, status: 'written' }, `Wrote ${visibleName(written.target)}`)
      }),
    )
  program
    .command('read')
    .description('print a file of the sandbox, bytes as they are')
    .argument('<path>')
    .option('--at <point>', 'as it was at a checkpoint', 'now')
    .action(
      action<{ at: string }>(async (cli, [path = ''], { at }) => {
        const { rpc, session } = await cli.begin()
        const file = await rpc.files.read({ session, path, at })
        if (cli.out.json) cli.out.result(file, '')
        else process.stdout.write(Buffer.from(file.content, file.encoding === 'base64' ? 'base64' : 'utf8'))
      }),
    )
}
