/** `rewind setup AGENT`: an agent's settings that let it use Rewind. `rewind hook AGENT`: what those settings call. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { visibleName } from '../../contract/text.ts'
import { connectHost, packageRoot, version } from '../../serve/client/index.ts'
import { dataFolder, ensureHome } from '../../serve/home.ts'
import { candidates } from '../cli.ts'
import type { Define } from '../command.ts'
import { readStdin } from '../prompt.ts'

interface Options {
  preview?: boolean
  undo?: boolean
  allow: string[]
}

export const defineSetup: Define = (program, action) => {
  program
    .command('setup')
    .description(
      'let an agent (claude, codex, opencode, gemini) use Rewind: its tools, and a point at each of its turns',
    )
    .argument('[agent]')
    .option('--allow <folder>', 'where it may begin sessions; may be given again', addFolder, [])
    .option('--preview', 'show what would be changed, and change nothing')
    .option('--undo', 'give its settings back as they were')
    .action(
      action<Options>(async (cli, [name], { preview = false, undo = false, allow }) => {
        const [{ agentNamed, setupOf }, { Setup }] = await Promise.all([
          import('../setup/agents.ts'),
          import('../setup/setup.ts'),
        ])
        const agent = agentNamed(name)
        const { title, edits, notes } = setupOf(agent, {
          rewind: join(packageRoot, 'bin/rewind'),
          home: process.env.REWIND_HOME ? dataFolder() : null,
          allow,
          env: process.env,
          user: process.env.HOME || homedir(),
        })
        const setup = new Setup(agent, { title, edits, notes }, preview ? dataFolder() : ensureHome(dataFolder()))
        const { changes, changedSince } = preview
          ? undo
            ? setup.planUndo()
            : setup.plan()
          : undo
            ? setup.undo()
            : setup.apply()
        const { createTwoFilesPatch } = await import('diff')
        const files = changes.map(({ path, before, after }) => ({
          path,
          status: before === null ? 'created' : after === null ? 'removed' : 'changed',
          diff: createTwoFilesPatch(
            before === null ? '/dev/null' : path,
            after === null ? '/dev/null' : path,
            before ?? '',
            after ?? '',
          ).replace(/^(Index: .*\n)?=+\n/, ''),
        }))
        for (const path of changedSince)
          cli.out.note(`${visibleName(path)} was changed since: what is there stays, only Rewind’s part is taken out.`)
        if (!undo && !preview) for (const note of notes) cli.out.note(note)
        const text = preview
          ? files.map(({ diff }) => diff).join('\n')
          : files.map(({ path, status }) => `${visibleName(path)} ${status}`).join('\n')
        const nothing = undo ? `There is nothing of Rewind’s in ${title}’s settings.` : `${title} is set up already.`
        cli.out.result({ agent, preview, files, changedSince, notes: undo ? [] : notes }, text || nothing)
      }),
    )
  program
    .command('hook', { hidden: true })
    .description("called by an agent's hook: saves a point of its session where files changed since the last one")
    .argument('<agent>')
    .action(
      action(async (cli, [agent = 'agent']) => {
        // In a sandbox the host is out of reach, and watches the files itself.
        if (process.env.REWIND_COMMAND) return
        try {
          await mark(agent)
        } catch (error) {
          // An agent is never kept from its work by this.
          cli.out.note(`rewind hook: ${visibleName(error instanceof Error ? error.message : String(error))}`)
        }
      }),
    )
}

const addFolder = (folder: string, known: string[]): string[] => [...known, resolve(folder)]

/** A point for the turn of an agent, in its only session on the folder that it works in. */
async function mark(agent: string): Promise<void> {
  const { cwd = process.cwd() } = process.stdin.isTTY ? {} : told(await readStdin())
  // Where no host runs there is no session. An agent's hook may do what an agent may.
  const client = await connectHost({ home: dataFolder(), start: false, version, grants: { allow: [], sessions: [] } })
  try {
    const [session, ...others] = candidates(await client.rpc.sessions.list(), cwd)
    if (session && others.length === 0) await client.rpc.rules.onTurn({ session: session.id, agent })
  } finally {
    client.close()
  }
}

/** What agents tell their hooks: a JSON object. */
function told(input: Buffer): { cwd?: string } {
  try {
    const value = JSON.parse(input.toString()) as { cwd?: unknown } | null
    return typeof value?.cwd === 'string' ? { cwd: value.cwd } : {}
  } catch {
    return {}
  }
}
