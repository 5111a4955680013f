/**
 * How each agent is told of Rewind: where it keeps its settings, its entry for an MCP server, and its hook before a
 * tool call and at the end of a turn.
 */
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { AGENTS, type AgentName, agentTitles, ownToolsOff } from '../../contract/agents.ts'
import { InvalidOptionError } from '../../contract/errors.ts'
import { type Edit, jsonEdit, ownFile, tomlEdit } from './edits.ts'

/** @throws InvalidOptionError that lists those that are known */
export function agentNamed(name: string | undefined): AgentName {
  const known = AGENTS.find((agent) => agent === name)
  if (known) return known
  throw new InvalidOptionError(
    name === undefined ? 'Which agent is to be set up?' : `There is no agent '${name}' to be set up.`,
    { nextStep: `Name one: ${AGENTS.join(', ')}.` },
  )
}

export interface SetupOptions {
  /** Whole path of the program `rewind`. */
  rewind: string
  /** The data folder, where it is not the usual one. */
  home: string | null
  /** Folders in which the agent may begin sessions. */
  allow: readonly string[]
  /** The person's environment, for where settings lie. */
  env: Readonly<Record<string, string | undefined>>
  /** The person's home folder. */
  user: string
}

export interface AgentSetup {
  /** How it is called. */
  title: string
  edits: Edit[]
  /** What the person has to do or know besides. */
  notes: string[]
}

/** Tools before which a point is worth taking: those that change the sandbox. */
const TOOLS = '(execute_sandbox_command|write_sandbox_file)'
/** A hook that has not answered by then is given up by its agent, seconds. */
const HOOK_TIMEOUT = 15

export function setupOf(agent: AgentName, options: SetupOptions): AgentSetup {
  return { claude, codex, opencode, gemini }[agent](options)
}

function claude(options: SetupOptions): AgentSetup {
  const { CLAUDE_CONFIG_DIR: chosen } = options.env
  const own = chosen && isAbsolute(chosen) ? chosen : null
  const hook = { type: 'command', command: hookLine(options, 'claude'), timeout: HOOK_TIMEOUT }
  return {
    title: agentTitles.claude,
    edits: [
      jsonEdit(join(own ?? options.user, '.claude.json'), [
        {
          at: ['mcpServers', 'rewind'],
          value: { type: 'stdio', command: options.rewind, args: serve(options), ...environment(options, 'env') },
          isOurs: isServer,
        },
      ]),
      jsonEdit(join(own ?? join(options.user, '.claude'), 'settings.json'), [
        {
          list: ['hooks', 'PreToolUse'],
          item: { matcher: `mcp__rewind__${TOOLS}`, hooks: [hook] },
          isOurs: runsHook,
        },
        { list: ['hooks', 'Stop'], item: { hooks: [hook] }, isOurs: runsHook },
      ]),
    ],
    notes: [ownToolsOff.claude],
  }
}

function codex(options: SetupOptions): AgentSetup {
  const { CODEX_HOME: chosen } = options.env
  const folder = chosen && isAbsolute(chosen) ? chosen : join(options.user, '.codex')
  const hook = [
    'type = "command"',
    `command = ${tomlText(hookLine(options, 'codex'))}`,
    `timeout = ${HOOK_TIMEOUT}`,
    '',
  ]
  const lines = [
    '[mcp_servers.rewind]',
    `command = ${tomlText(options.rewind)}`,
    `args = [${serve(options).map(tomlText).join(', ')}]`,
    // Where no host runs, one is started first.
    'startup_timeout_sec = 30',
    ...(options.home === null ? [] : [`env = { REWIND_HOME = ${tomlText(options.home)} }`]),
    '',
    '[[hooks.PreToolUse]]',
    `matcher = ${tomlText(`mcp__rewind__${TOOLS}`)}`,
    '[[hooks.PreToolUse.hooks]]',
    ...hook,
    '[[hooks.Stop]]',
    '[[hooks.Stop.hooks]]',
    ...hook,
  ]
  return {
    title: agentTitles.codex,
    edits: [tomlEdit(join(folder, 'config.toml'), lines.join('\n'), [['mcp_servers', 'rewind']])],
    notes: ['Codex runs a new hook only once you have trusted it: type /hooks in it.', ownToolsOff.codex],
  }
}

function opencode(options: SetupOptions): AgentSetup {
  const { XDG_CONFIG_HOME: xdg } = options.env
  const folder = join(xdg && isAbsolute(xdg) ? xdg : join(options.user, '.config'), 'opencode')
  const file = ['opencode.jsonc', 'opencode.json'].find((name) => existsSync(join(folder, name))) ?? 'opencode.json'
  return {
    title: agentTitles.opencode,
    edits: [
      jsonEdit(join(folder, file), [
        {
          at: ['mcp', 'rewind'],
          value: {
            type: 'local',
            // It gives up on an answer after 30 seconds.
            command: [options.rewind, ...serve(options), '--wait', '25'],
            ...environment(options, 'environment'),
          },
          isOurs: isServer,
        },
      ]),
      ownFile(join(folder, 'plugins/rewind.js'), plugin(options), (text) => text.startsWith(PLUGIN_MARK)),
    ],
    notes: [ownToolsOff.opencode],
  }
}

function gemini(options: SetupOptions): AgentSetup {
  const hook = { name: 'rewind', type: 'command', command: hookLine(options, 'gemini'), timeout: HOOK_TIMEOUT * 1000 }
  return {
    title: agentTitles.gemini,
    edits: [
      jsonEdit(join(options.user, '.gemini/settings.json'), [
        {
          at: ['mcpServers', 'rewind'],
          value: { command: options.rewind, args: serve(options), ...environment(options, 'env') },
          isOurs: isServer,
        },
        { list: ['hooks', 'BeforeTool'], item: { matcher: `mcp_.*rewind.*${TOOLS}`, hooks: [hook] }, isOurs: runsHook },
        { list: ['hooks', 'AfterAgent'], item: { hooks: [hook] }, isOurs: runsHook },
      ]),
    ],
    notes: [ownToolsOff.gemini],
  }
}

const serve = ({ allow }: SetupOptions): string[] => ['mcp', ...allow.flatMap((folder) => ['--allow', folder])]

const environment = ({ home }: SetupOptions, name: string): object =>
  home === null ? {} : { [name]: { REWIND_HOME: home } }

/** Where Rewind has gone, or its data folder is closed (in a sandbox), an agent is not to be kept from its work. */
function hookLine({ rewind, home }: SetupOptions, agent: AgentName): string {
  const where = home === null ? '' : `REWIND_HOME=${quote(home)} `
  return `test ! -x ${quote(rewind)} || ${where}${quote(rewind)} hook ${agent}`
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

/** A JSON string is a TOML one, too, once DEL is written out. */
const tomlText = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f')

/** An entry that serves Rewind's tools, ours of another time or one that a person wrote by hand. */
const isServer = (value: unknown): boolean => /(^|[/\\"])rewind(\.cmd)?"[^}]*"mcp"/.test(JSON.stringify(value) ?? '')

const runsHook = (item: unknown): boolean =>
  /rewind(\.cmd)?'? hook (claude|codex|gemini)"/.test(JSON.stringify(item) ?? '')

const PLUGIN_MARK = '// Written by `rewind setup opencode`, taken out by `rewind setup opencode --undo`.'

const plugin = ({ rewind, home }: SetupOptions): string => `${PLUGIN_MARK}
// Saves a point of Rewind's session before a tool changes it, and when a turn is over.
import { execFile } from 'node:child_process'

const env = { ...process.env${home === null ? '' : `, REWIND_HOME: ${JSON.stringify(home)}`} }

const mark = (cwd) =>
  new Promise((done) => {
    const child = execFile(${JSON.stringify(rewind)}, ['hook', 'opencode'], { cwd, env, timeout: ${HOOK_TIMEOUT * 1000} }, () => done())
    child.stdin?.end()
  })

export const Rewind = async ({ directory }) => ({
  'tool.execute.before': async ({ tool }) => {
    if (/^rewind_${TOOLS}$/.test(tool)) await mark(directory)
  },
  event: async ({ event }) => {
    if (event.type === 'session.idle') await mark(directory)
  },
})
`
