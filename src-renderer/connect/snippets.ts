/** What each client of the Model Context Protocol is given to know Rewind: to copy. Pure. */
import { type AgentName, agentTitles, ownToolsOff } from '../../src-main/contract/agents.ts'

export type Client = AgentName | 'cursor' | 'vscode' | 'other'
export type Way = 'stdio' | 'http'

export const CLIENTS: readonly { client: Client; title: string }[] = [
  { client: 'claude', title: agentTitles.claude },
  { client: 'codex', title: agentTitles.codex },
  { client: 'opencode', title: agentTitles.opencode },
  { client: 'gemini', title: agentTitles.gemini },
  { client: 'cursor', title: 'Cursor' },
  { client: 'vscode', title: 'VS Code' },
  { client: 'other', title: 'Any other client' },
]

export interface Snippet {
  /** Where it goes: a file, or null for a command to type. */
  file: string | null
  text: string
}

/** Where agents come in over HTTP. */
export interface Door {
  url: string
  token: string
}

const json = (value: object): string => JSON.stringify(value, null, 2)
const toml = (text: string): string => JSON.stringify(text)

export function snippetOf(client: Client, way: Way, { url, token }: Door): Snippet {
  const authorization = `Bearer ${token}`
  const remote = { url, headers: { Authorization: authorization } }
  const local = { command: 'rewind', args: ['mcp'] }
  const http = way === 'http'
  switch (client) {
    case 'claude':
      return {
        file: null,
        text: http
          ? `claude mcp add --transport http rewind ${url} --header "Authorization: ${authorization}"`
          : 'claude mcp add rewind -- rewind mcp',
      }
    case 'codex':
      return {
        file: '~/.codex/config.toml',
        text: http
          ? `[mcp_servers.rewind]\nurl = ${toml(url)}\nhttp_headers = { Authorization = ${toml(authorization)} }`
          : '[mcp_servers.rewind]\ncommand = "rewind"\nargs = ["mcp"]\nstartup_timeout_sec = 30',
      }
    case 'opencode':
      return {
        file: 'opencode.json',
        text: json({
          mcp: {
            // It gives up on an answer after 30 seconds.
            rewind: http
              ? { type: 'remote', ...remote }
              : { type: 'local', command: ['rewind', 'mcp', '--wait', '25'] },
          },
        }),
      }
    case 'gemini':
      return {
        file: '~/.gemini/settings.json',
        text: json({
          mcpServers: { rewind: http ? { httpUrl: url, headers: remote.headers } : local },
        }),
      }
    case 'cursor':
      return { file: '~/.cursor/mcp.json', text: json({ mcpServers: { rewind: http ? remote : local } }) }
    case 'vscode':
      return {
        file: '.vscode/mcp.json',
        text: json({ servers: { rewind: http ? { type: 'http', ...remote } : { type: 'stdio', ...local } } }),
      }
    case 'other':
      return { file: null, text: http ? `${url}\nAuthorization: ${authorization}` : 'rewind mcp' }
  }
}

/** Whether `rewind setup` writes a client's settings. */
export const isSetUp = (client: Client): client is AgentName => Object.hasOwn(agentTitles, client)

/** How a client's own tools, which change the project itself, are switched off. */
export const toolsOff = (client: Client): string =>
  isSetUp(client)
    ? ownToolsOff[client]
    : 'Its own shell and edit tools change the project itself: switch them off in its settings, or tell it to work through Rewind’s tools alone.'

/** A line that runs the agent whole inside the sandbox; null for those that are no program of a terminal. */
export const insideOf = (client: Client): string | null =>
  isSetUp(client) ? `rewind run -- ${client}` : client === 'other' ? 'rewind run -- AGENT' : null
