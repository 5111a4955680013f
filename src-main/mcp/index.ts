/** The tools for agents, and the ways in to them. Loads the MCP SDK: import it only where agents come in. */
export type { AgentHost } from './host.ts'
export { createMcpEndpoint, type McpEndpoint } from './http.ts'
export { createServer, type ServerParts } from './server.ts'
export { type StdioParts, serveMcpOnStdio } from './stdio.ts'
