/** Tells the host, and through it whoever watches, what an agent does: that a call began, and how it ended. */
import { randomUUID } from 'node:crypto'
import { TOLD } from '../contract/index.ts'
import type { Answer } from './answers.ts'
import type { AgentHost } from './host.ts'

export interface ToldCall {
  session: string
  /** How the agent's program calls itself. */
  client: string
  tool: string
  args: Record<string, unknown>
  /** How long ago it began, milliseconds. */
  elapsedMs?: number
}

/**
 * Says that a call began. Nobody waits for it: what cannot be told (the host is away) changes nothing for the agent.
 * @returns says how it ended; resolves when that was heard, or cannot be
 */
export function tellOf(host: AgentHost, { session, client, tool, args, elapsedMs = 0 }: ToldCall) {
  const id = randomUUID()
  const begun = host.tools
    .begin({ session, id, client: beginning(client, 500), tool, arguments: asText(args), elapsedMs })
    .catch(unheard)
  return async (answer: Answer): Promise<void> => {
    await begun
    const result = beginning(answer.content.map(({ text }) => text).join('\n'), TOLD)
    await host.tools.end({ session, id, status: answer.isError ? 'failed' : 'done', result }).catch(unheard)
  }
}

const unheard = (): void => {}

/** A text of many megabytes is cut before it is written out, not after. */
const asText = (args: Record<string, unknown>): string =>
  beginning(
    JSON.stringify(args, (_key, value: unknown) => (typeof value === 'string' ? beginning(value, TOLD) : value)),
    TOLD,
  )

const beginning = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters - 1)}…` : text
