/**
 * The tools as an MCP server: one instance speaks either revision of the protocol (2026-07-28, where every request
 * stands for itself, and those of 2025, which begin with a handshake), from the same table. It holds no state: what is
 * remembered of a client is the {@link ToolClient}'s.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ToolClient } from './client.ts'
import type { AgentHost } from './host.ts'
import { runTool } from './run-tool.ts'
import type { CallKey } from './tool.ts'
import { tools } from './tools/index.ts'

/** Name and version by which a client introduces itself. */
export const ClientInfo = z.object({ name: z.string().max(200), version: z.string().max(200) })
export type ClientInfo = z.infer<typeof ClientInfo>

export interface ServerParts {
  host: AgentHost
  version: string
  /** A person allows to be asked through these clients, where they can ask. */
  elicit?: boolean
  /** Whose calls these are. */
  clientOf(info: ClientInfo): ToolClient
}

/** Where a client puts its own name for a call, in the request's _meta. */
const KEY = 'rewind/id'
const NOBODY: ClientInfo = { name: 'unknown client', version: '' }

const INSTRUCTIONS = [
  'Rewind gives you a sandbox in which everything can be undone: files, your conversation and running processes together.',
  'Begin with init_sandbox on the project folder. Then work through execute_sandbox_command, write_sandbox_file and',
  'read_sandbox_file instead of your own shell and edit tools: those would change the real project, out of reach of any',
  'rewind. Take a checkpoint before anything risky, hand over your messages with it, and go back when a step fails.',
  'A result that begins with [REWIND] says that files you knew were taken back: read them again before you go on.',
].join(' ')

export function createServer({ host, version, elicit = false, clientOf }: ServerParts): McpServer {
  const server = new McpServer(
    { name: 'rewind', title: 'Rewind Desktop', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  for (const tool of tools)
    server.registerTool(
      tool.name,
      {
        title: tool.annotations.title,
        description: tool.description,
        inputSchema: tool.input,
        outputSchema: tool.output,
        annotations: tool.annotations,
      },
      (args, context) => {
        const info = introduced(context) ?? server.server.getClientVersion() ?? NOBODY
        return runTool({
          host,
          tool,
          args,
          client: clientOf(info),
          by: `${info.name} ${info.version}`.trim(),
          signal: context.mcpReq.signal,
          key: keyOf(context),
          progress: progressTo(context),
          elicited: elicit && canElicit(context, server) ? (context.mcpReq.inputResponses ?? {}) : null,
        })
      },
    )
  return server
}

/** How the request itself introduces its client; since 2026-07-28 each one does. */
const introduced = ({ mcpReq }: ServerContext): ClientInfo | undefined =>
  ClientInfo.safeParse((mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_INFO_META_KEY]).data

/** Whether the client says that it can put a question to its person; since 2026-07-28 each request says so. */
function canElicit({ mcpReq }: ServerContext, server: McpServer): boolean {
  const envelope = mcpReq.envelope as Record<string, { elicitation?: object } | undefined> | undefined
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.server.getClientCapabilities()
  return capabilities?.elicitation !== undefined
}

function keyOf({ mcpReq }: ServerContext): CallKey | null {
  const made: unknown = mcpReq._meta?.[KEY]
  if (typeof made === 'string' && made !== '') return { text: made, lasting: true }
  const token = mcpReq._meta?.progressToken
  return token === undefined ? null : { text: String(token), lasting: false }
}

function progressTo({ mcpReq }: ServerContext): ((message: string) => void) | null {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return null
  let progress = 0
  return (message) => {
    progress++
    // A client that has gone is told nothing.
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {})
  }
}
