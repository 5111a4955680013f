/**
 * A language model that is none: whatever it is asked, it goes on with the next step of a script. It speaks the two
 * protocols of today's agents (chat completions, responses), so that real agents' programs can be driven without a
 * provider, and remembers what their tools answered.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A tool that the agent is to call; by the name that the tool has for whoever serves it. */
export interface Step {
  tool: string
  arguments: Record<string, unknown>
  /** What happens elsewhere before the agent is told to do this. */
  before?: () => Promise<unknown>
}

/** A tool as a request offers it. */
interface OfferedTool {
  name: string
  /** Where the protocol groups tools: the group's name. */
  namespace?: string
}

// biome-ignore lint/suspicious/noExplicitAny: requests of agents are looked at field by field.
type Json = any

const LAST_WORDS = 'That is all of the script.'

export class ScriptedModel {
  #steps: readonly Step[]
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => {
      this.faults.push(String(error))
      response.writeHead(500).end(String(error))
    })
  })
  /** What the agent's tools have answered, as the model was told of it, in order. */
  results: string[] = []
  /** What went wrong in here: a step whose tool was not offered, a request that was not understood. */
  readonly faults: string[] = []
  readonly #prepared = new Set<Step>()

  constructor(steps: readonly Step[]) {
    this.#steps = steps
  }

  static async begin(steps: readonly Step[]): Promise<ScriptedModel> {
    const model = new ScriptedModel(steps)
    model.#server.listen(0, '127.0.0.1')
    await once(model.#server, 'listening')
    return model
  }

  /** Address of its API, to be given to an agent. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  /** The script of the agent's next conversation. */
  restart(steps: readonly Step[]): void {
    this.#steps = steps
    this.results = []
  }

  end(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const speak = { '/v1/chat/completions': chatCompletions, '/v1/responses': responses }[path]
    if (!speak || request.method !== 'POST') {
      response.writeHead(404).end()
      return
    }
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { tools, results, say, call } = speak(JSON.parse(Buffer.concat(parts).toString()))
    // Agents also ask for titles and summaries, without their tools.
    if (tools.length > 0) this.results = results
    const step = tools.length === 0 ? undefined : this.#steps[results.length]
    const text = step ? call(await this.#offered(step, tools), step.arguments, results.length) : say(LAST_WORDS)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  }

  async #offered(step: Step, tools: readonly OfferedTool[]): Promise<OfferedTool> {
    if (step.before && !this.#prepared.has(step)) {
      this.#prepared.add(step)
      await step.before()
    }
    // Agents put the server's name before it; of names that end alike the shortest is meant.
    const [found] = tools
      .filter(({ name }) => name === step.tool || name.endsWith(`_${step.tool}`))
      .sort((a, b) => a.name.length - b.name.length)
    if (!found) throw new Error(`no tool ${step.tool} is offered, only ${tools.map(({ name }) => name).join(', ')}`)
    return found
  }
}

/** One request of a protocol, and the answers in it as server-sent events. */
interface Spoken {
  tools: OfferedTool[]
  results: string[]
  say(text: string): string
  call(tool: OfferedTool, args: object, nth: number): string
}

function chatCompletions({ tools = [], messages }: Json): Spoken {
  const stream = (delta: object, reason: string): string =>
    [
      ...[
        { index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null },
        { index: 0, delta: {}, finish_reason: reason },
      ].map((choice) =>
        JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [choice] }),
      ),
      '[DONE]',
    ]
      .map((data) => `data: ${data}\n\n`)
      .join('')
  return {
    tools: tools.map((tool: Json) => ({ name: tool.function.name })),
    results: messages.filter(({ role }: Json) => role === 'tool').map(({ content }: Json) => textOf(content)),
    say: (content) => stream({ content }, 'stop'),
    call: ({ name }, args, nth) =>
      stream(
        {
          tool_calls: [
            { index: 0, id: `call_${nth}`, type: 'function', function: { name, arguments: JSON.stringify(args) } },
          ],
        },
        'tool_calls',
      ),
  }
}

function responses({ tools = [], input }: Json): Spoken {
  const stream = (item: object): string => {
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    return [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: { id: 'r', usage: { ...usage, input_tokens_details: null, output_tokens_details: null } },
      },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('')
  }
  return {
    tools: tools.flatMap((tool: Json) =>
      tool.type === 'namespace'
        ? tool.tools.map(({ name }: Json) => ({ name, namespace: tool.name }))
        : [{ name: tool.name ?? tool.type }],
    ),
    results: input
      .filter(({ type }: Json) => type === 'function_call_output')
      .map(({ output }: Json) => textOf(output)),
    say: (text) => stream({ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text }] }),
    call: (tool, args, nth) =>
      stream({
        type: 'function_call',
        id: `f${nth}`,
        call_id: `call_${nth}`,
        ...tool,
        arguments: JSON.stringify(args),
      }),
  }
}

/** Content is text, or a list of parts. */
const textOf = (content: Json): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }: Json) => text).join('\n')
