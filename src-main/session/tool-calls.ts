/**
 * What agents do by tools, told to whoever watches while it happens. The tools themselves are elsewhere: they say here
 * that a call begins and how it ended. One whose client went in its middle is `lost`.
 */
import { InvalidOptionError, type ToolCall } from '../contract/index.ts'
import type { SessionContext } from './context.ts'
import type { Inputs } from './inputs.ts'

export class ToolCalls {
  readonly #context: SessionContext

  constructor(context: SessionContext) {
    this.#context = context
  }

  list(): ToolCall[] {
    return this.#context.store.toolCalls.list(this.#context.id)
  }

  begin({ id, client, tool, arguments: given, elapsedMs }: Inputs['tools']['begin']): ToolCall {
    const context = this.#context
    if (context.store.toolCalls.get(context.id, id))
      throw new InvalidOptionError(`There is a tool call ${id} already.`, {
        nextStep: 'Each call has an id of its own.',
      })
    const call: ToolCall = {
      id,
      session: context.id,
      client,
      tool,
      arguments: given,
      status: 'running',
      result: null,
      startedAt: new Date(Date.now() - elapsedMs),
      endedAt: null,
    }
    return context.transaction(() => {
      context.store.toolCalls.insert(call)
      context.raise({ type: 'toolCallStarted', call })
      return call
    })
  }

  /** Nothing happens to one that has ended; one that was given up may still be heard of. */
  end(id: string, status: 'done' | 'failed' | 'lost', result: string | null): ToolCall {
    const context = this.#context
    const known = context.store.toolCalls.get(context.id, id)
    if (!known) throw new InvalidOptionError(`There is no tool call ${id}.`)
    if (known.status === 'done' || known.status === 'failed') return known
    return context.transaction(() => {
      const call = context.store.toolCalls.update(context.id, id, { status, result, endedAt: new Date() })
      context.raise({ type: 'toolCallEnded', call })
      return call
    })
  }

  /** Those that an earlier host saw begin: whoever made them asks again, or nobody does. */
  recover(): void {
    for (const { id } of this.#context.store.toolCalls.running(this.#context.id)) this.end(id, 'lost', null)
  }
}
