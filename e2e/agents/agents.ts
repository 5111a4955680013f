/** Agents' programs, each told in its own way where its (scripted) model and its tools are. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliAnswer, type DataFolder, root } from '../host.ts'
import { programs } from './programs.ts'

export const agents = ['opencode', 'codex'] as const
export type Agent = (typeof agents)[number]

/** By which of its own tools an agent runs a shell, and how. */
export const shellTool: Record<Agent, (command: string) => { tool: string; arguments: Record<string, unknown> }> = {
  opencode: (command) => ({ tool: 'bash', arguments: { command, description: 'a step' } }),
  codex: (cmd) => ({ tool: 'exec_command', arguments: { cmd } }),
}

/** The arguments that make it carry out one task without a person. */
export const taskOf: Record<Agent, string[]> = {
  opencode: ['run', 'do what the script says'],
  codex: [
    'exec',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    '--dangerously-bypass-hook-trust',
    'do what the script says',
  ],
}

/** Lays down the settings by which it finds its model, below a home. */
export function writeModel(agent: Agent, home: string, url: string): void {
  if (agent === 'opencode')
    write(
      join(home, '.config/opencode/opencode.json'),
      JSON.stringify(
        {
          $schema: 'https://opencode.ai/config.json',
          model: 'scripted/scripted',
          small_model: 'scripted/scripted',
          autoupdate: false,
          provider: {
            scripted: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Scripted',
              options: { baseURL: url, apiKey: 'none' },
              models: { scripted: { name: 'Scripted' } },
            },
          },
        },
        null,
        2,
      ),
    )
  else
    write(
      join(home, '.codex/config.toml'),
      [
        'model = "scripted"',
        'model_provider = "scripted"',
        '[model_providers.scripted]',
        'name = "Scripted"',
        `base_url = "${url}"`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    )
}

function write(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

/** What an agent is started with: a home of its own, and no word to anybody but its model. */
export const environmentOf = (data: DataFolder, home: string): NodeJS.ProcessEnv => ({
  PATH: `${join(root, 'bin')}:${process.env.PATH}`,
  HOME: home,
  TERM: 'dumb',
  REWIND_HOME: data.home,
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
})

/** Runs an agent's program to its end. */
export function runAgent(
  agent: Agent,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<CliAnswer> {
  return new Promise((resolve) => {
    const child = execFile(programs[agent], args, { cwd, env, timeout: 250_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr })
    })
    // Both read what is piped to them to its end.
    child.stdin?.end()
  })
}
