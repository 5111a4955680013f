/**
 * docs/cli.md, from the definitions that the command line itself is made of: `node e2e/cli-reference.ts --write`; without it,
 * a page that is not what they say is a failure.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { createProgram } from '../src-main/cli/index.ts'

const page = resolve(import.meta.dirname, '../docs/cli.md')

const HEAD = `# The command line

Every command of \`rewind\`, as \`rewind COMMAND --help\` tells it. \`rewind\` alone prints the list.

`

const TAIL = `## Which session is meant

\`--session NAME\`, else \`$REWIND_SESSION\`, else the only live session on the current folder's workspace, else
\`rewind_sandbox\`. Where several could be meant, they are listed and nothing is done.

## Exit codes

| code | what it says |
| --- | --- |
| 0 | done |
| 1 | the command or the verifier said no |
| 2 | no such session or sandbox |
| 3 | a checkpoint that does not exist, or exists already |
| 4 | the engine, the disk or the host failed |
| 5 | a bad path, or no such file |
| 6 | halted: the verifier could not decide |
| 7 | in conflict with the host |
| 8 | declined, or the session was rewound meanwhile |
| 64 | a wrong command line |
| 70 | a fault of ours |

With \`--json\` exactly one object comes to standard output: \`{"success": true, "data": ...}\`, or
\`{"success": false, "error": "...", "code": N}\` with the exit code. Everything else goes to standard error.
`

/** Text that stands in a cell of a table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

function options(command: Command): string {
  const rows = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, argChoices }) => {
      const choices = argChoices ? ` (${argChoices.join(', ')})` : ''
      return `| \`${cell(flags)}\` | ${cell(description + choices)} |`
    })
  return rows.length === 0 ? '' : `\n| option | |\n| --- | --- |\n${rows.join('\n')}\n`
}

function* sections(command: Command, path: string): Generator<string> {
  const operands = command.registeredArguments.map((operand) => {
    const shown = `${operand.name()}${operand.variadic ? '...' : ''}`
    return operand.required ? `<${shown}>` : `[${shown}]`
  })
  const words = [path, ...operands].join(' ')
  yield `## ${path}\n\n\`${words}\`: ${command.description()}.\n${options(command)}`
  for (const inner of command.commands) yield* sections(inner, `${path} ${inner.name()}`)
}

/** @returns the page */
export function cliReference(): string {
  const program = createProgram(() => {})
  const commands = program.commands.flatMap((command) => [...sections(command, `rewind ${command.name()}`)])
  return `${HEAD}Options of every command:\n${options(program)}\n${commands.join('\n')}\n${TAIL}`
}

if (import.meta.main) {
  const fresh = cliReference()
  if (process.argv.includes('--write')) writeFileSync(page, fresh)
  else if (readFileSync(page, 'utf8') !== fresh) {
    console.error('docs/cli.md is not what the command line says: run `npm run reference`')
    process.exitCode = 1
  }
}
