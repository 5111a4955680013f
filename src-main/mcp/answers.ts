/** Answers as MCP has them: structured for programs, the same as text for models; a failure says what to do about it. */
import { fromRpcError, type RewindError, SandboxNotFoundError, SessionRewoundError } from '../contract/index.ts'

export interface Answer {
  [key: string]: unknown
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

const text = (...texts: (string | null)[]): Answer['content'] =>
  texts.filter((one) => one !== null).map((one) => ({ type: 'text' as const, text: one }))

/** @param notice what the client has to hear first */
export const answer = (data: Record<string, unknown>, failed: boolean, notice: string | null = null): Answer => ({
  content: text(notice, JSON.stringify(data)),
  structuredContent: data,
  ...(failed ? { isError: true } : {}),
})

export function failure(error: unknown, notice: string | null = null): Answer {
  const known = fromRpcError(error)
  const said = [`${known.code}: ${inToolWords(known.message)}`, nextStepOf(known)].filter(Boolean).join('\n')
  return { content: text(notice, said), isError: true }
}

function nextStepOf(error: RewindError): string | null {
  if (error instanceof SandboxNotFoundError && Array.isArray(error.data.live))
    return error.data.live.length > 0
      ? `Sessions that are open to you: ${error.data.live.join(', ')}. Begin another one with init_sandbox.`
      : 'Begin one with init_sandbox.'
  if (error instanceof SessionRewoundError && typeof error.data.revision === 'number')
    return `Read the conversation with get_agent_memory and go on from that: its revision is ${error.data.revision}.`
  return error.nextStep === null ? null : inToolWords(error.nextStep)
}

/** The command line's names for what agents do by tools; all others are a person's to run. */
const tools: Readonly<Record<string, string>> = {
  init: 'init_sandbox',
  checkpoint: 'create_sandbox_checkpoint',
  'checkpoint ls': 'sandbox_checkpoint_list',
  rewind: 'sandbox_rewind',
  rollback: 'rollback_sandbox_state',
  exec: 'execute_sandbox_command',
  status: 'get_sandbox_status',
  sessions: 'get_sandbox_status',
}

const inToolWords = (said: string): string =>
  said.replaceAll(/`rewind (checkpoint ls|[a-z-]+)[^`]*`/g, (whole, command: string) => tools[command] ?? whole)
