/**
 * MCP over stdin and stdout: one process, one client. It ends when the client closes our stdin, after the commands that
 * the client was waiting for were told to stop.
 */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { ToolClient } from './client.ts'
import type { AgentHost } from './host.ts'
import { LineTransport } from './line-transport.ts'
import { createServer } from './server.ts'

/** Bytes of one message: a large file in base64, a long history. What is longer ends the connection. */
const MESSAGE_BYTES = 128 * 1024 * 1024

export interface StdioParts {
  host: AgentHost
  version: string
  /** The session that is meant where a call names none. */
  session?: string
  /** How long a call keeps the client waiting before it is answered that the work goes on, milliseconds. */
  patienceMs?: number
  /** A person allows to be asked through this client. */
  elicit: boolean
  /** Where relative paths of workspaces start. */
  folder: string
  /** For the person who reads the client's log. */
  log(line: string): void
}

/** Serves until the client hangs up. */
export async function serveMcpOnStdio({
  host,
  version,
  session,
  patienceMs,
  folder,
  elicit,
  log,
}: StdioParts): Promise<void> {
  const client = new ToolClient({
    remembersSession: true,
    folder,
    ...(session === undefined ? {} : { session }),
    ...(patienceMs === undefined ? {} : { patienceMs }),
  })
  const transport = new LineTransport(process.stdin, process.stdout, MESSAGE_BYTES)
  const served = serveStdio(() => createServer({ host, version, elicit, clientOf: () => client }), {
    transport,
    onerror: (error) => log(error.message),
  })
  await new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve)
    process.once('SIGTERM', resolve).once('SIGINT', resolve)
  })
  await served.close()
  await client.settled(SETTLE_MS)
}

/** What is under way when the client goes has so long to come to its end, milliseconds. */
const SETTLE_MS = 2_000
