/**
 * The host as the tools see it: the contract's procedures, whether they are answered over the socket (`rewind mcp`) or
 * in the same process (MCP over HTTP). Either way the connection has the scope of an agent, which the host enforces.
 */
import type { ContractRouterClient } from '@orpc/contract'
import type { contract } from '../contract/index.ts'

export type AgentHost = ContractRouterClient<typeof contract>
