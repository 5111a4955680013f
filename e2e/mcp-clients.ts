/**
 * Clients of the tools as agents' programs have them: the SDKs' own, of the line that begins with a handshake and of the
 * one where every request stands for itself, over stdin and over HTTP. All four look alike to a test.
 */
import { join } from 'node:path'
import { Client as CurrentClient, StreamableHTTPClientTransport as CurrentHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as CurrentStdio } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as EarlierHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type DataFolder, root } from './host.ts'

export const ways = ['2025 over stdin', '2025 over HTTP', '2026-07-28 over stdin', '2026-07-28 over HTTP'] as const
export type Way = (typeof ways)[number]

export interface ToolAnswer {
  isError: boolean
  /** All text, notices first. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: what tools answer is looked at field by field.
  data: any
}

export interface CallOptions {
  signal?: AbortSignal
  onProgress?: (message: string) => void
  /** The client's own name for the call. */
  key?: string
}

export interface ListedTool {
  name: string
  annotations?: object | undefined
  inputSchema: object
  outputSchema?: object | undefined
}

export interface ToolClient {
  /** The revision that was agreed on. */
  readonly revision: string | undefined
  readonly instructions: string | undefined
  tools(): Promise<ListedTool[]>
  call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>
  close(): Promise<void>
}

export interface ClientOptions {
  name?: string
  /** Arguments of `rewind mcp`, for clients over stdin. */
  args?: string[]
  cwd?: string
  /** The client can put questions to its person, who answers so; null declines. */
  onQuestion?: (message: string) => Record<string, string> | null | Promise<Record<string, string> | null>
}

/** Connects; a host must run for HTTP, and is started for stdin. */
export async function connect(way: Way, data: DataFolder, options: ClientOptions = {}): Promise<ToolClient> {
  const overHttp = way.endsWith('HTTP')
  const info = { name: options.name ?? 'test agent', version: '1.2.3' }
  const server = {
    command: join(root, 'bin/rewind'),
    args: ['mcp', ...(options.args ?? [])],
    env: data.env as Record<string, string>,
    cwd: options.cwd ?? data.base,
    stderr: 'ignore' as const,
  }
  const address = overHttp ? await data.json<{ url: string; token: string }>('token') : null
  const http = address && { url: new URL(address.url), init: { headers: { authorization: `Bearer ${address.token}` } } }
  const ask = options.onQuestion
  const capabilities = ask ? { elicitation: {} } : {}
  if (way.startsWith('2025')) {
    const client = new EarlierClient(info, { capabilities })
    if (ask) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => answerTo(await ask(params.message)))
    const transport = http ? new EarlierHttp(http.url, { requestInit: http.init }) : new EarlierStdio(server)
    // The class itself leaves sessionId undefined, which its own interface does not allow for.
    await client.connect(transport as Parameters<EarlierClient['connect']>[0])
    return {
      revision: '2025',
      instructions: client.getInstructions(),
      tools: async () => (await client.listTools()).tools,
      call: async (name, args, options) =>
        answerOf(await client.callTool(requestOf(name, args, options), CallToolResultSchema, optionsOf(options))),
      close: () => client.close(),
    }
  }
  const client = new CurrentClient(info, { capabilities, versionNegotiation: { mode: 'auto' } })
  if (ask) client.setRequestHandler('elicitation/create', async ({ params }) => answerTo(await ask(params.message)))
  await client.connect(http ? new CurrentHttp(http.url, { requestInit: http.init }) : new CurrentStdio(server))
  return {
    revision: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    call: async (name, args, options) =>
      answerOf(await client.callTool(requestOf(name, args, options), optionsOf(options))),
    close: () => client.close(),
  }
}

const answerTo = (content: Record<string, string> | null) =>
  content ? { action: 'accept' as const, content } : { action: 'decline' as const }

const requestOf = (name: string, args: Record<string, unknown> = {}, { key }: CallOptions = {}) => ({
  name,
  arguments: args,
  ...(key === undefined ? {} : { _meta: { 'rewind/id': key } }),
})

/** Longer than a tool keeps its client waiting. */
const PATIENCE_MS = 120_000

const optionsOf = ({ signal, onProgress }: CallOptions = {}) => ({
  timeout: PATIENCE_MS,
  ...(signal ? { signal } : {}),
  ...(onProgress ? { onprogress: ({ message }: { message?: string | undefined }) => onProgress(message ?? '') } : {}),
})

function answerOf(result: Record<string, unknown>): ToolAnswer {
  const content = (result.content ?? []) as { text?: string }[]
  return {
    isError: result.isError === true,
    text: content.map(({ text }) => text ?? '').join('\n'),
    data: result.structuredContent,
  }
}
