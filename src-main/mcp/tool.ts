/** What a tool is to the rest: its schemas as clients see them, and what it does with a call. */
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ToolClient } from './client.ts'
import type { AgentHost } from './host.ts'

/** One call of a tool, once the session that it is about is known. */
export interface Call {
  readonly host: AgentHost
  readonly client: ToolClient
  /** How the client's program calls itself. */
  readonly by: string
  /** The session's id. Empty for tools that are about none. */
  readonly session: string
  /** The epoch that the caller acts on: whatever changes the session passes it on. */
  readonly epoch: number
  /** Aborts when the client takes the call back. */
  readonly signal: AbortSignal
  /** The caller's own name for this call: asked again with it, it is the same call. */
  readonly key: CallKey | null
  /** What its person has answered so far to what was asked through it, by the question's id; null where none may be asked. */
  readonly elicited: Record<string, unknown> | null
  /** Tells a client that wants to know how far it is. */
  readonly progress: ((message: string) => void) | null
}

export interface CallKey {
  text: string
  /** Made to be unique for ever, as opposed to a number that the next process counts up to again. */
  lasting: boolean
}

export interface Annotations {
  title: string
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly annotations: Annotations
  /** `none`: it is not about a session that is there already. */
  readonly about: 'session' | 'none'
  /** Whether a call with these arguments is about no session all the same. */
  standsAlone(args: Record<string, unknown>): boolean
  /** It acts on the session: refused while its caller has not heard of a rewind. */
  readonly acts: boolean
  run(call: Call, args: Record<string, unknown>): Promise<Outcome>
}

export interface Outcome {
  data: Record<string, unknown>
  /** What it did failed, although the tool itself did not: a command that ended with another code than 0. */
  failed?: boolean
  /** The session that it brought into being. */
  session?: { id: string; epoch: number }
  /** The rewind that this call itself made began this epoch. */
  epoch?: number
  /** The session is gone: it is not what the next call means. */
  gone?: boolean
  /** Its person is asked first; the client makes the call again with what they answered. */
  ask?: Question
  /** It set off an automatic rollback, of which its own answer tells. */
  rolledBack?: boolean
}

/** A question that is put to the person at the client. */
export interface Question {
  id: string
  message: string
  /** What can be answered, as the client shows it. */
  schema: ElicitRequestFormParams['requestedSchema']
}

interface Definition<I extends z.ZodRawShape, O extends z.ZodRawShape> {
  name: string
  title: string
  description: string
  input: I
  output: O
  /** What it does to the session. */
  effect: 'reads' | 'adds' | 'destroys'
  about?: Tool['about']
  standsAlone?(args: z.output<z.ZodObject<I>>): boolean
  idempotent?: boolean
  /** What runs may reach the world outside. */
  openWorld?: boolean
  run(call: Call, args: z.output<z.ZodObject<I>>): Promise<TypedOutcome<z.input<z.ZodObject<O>>>>
}

type TypedOutcome<Data> = Omit<Outcome, 'data'> & { data: Data }

/** How every tool names its session. */
const sessionArguments = {
  session: z.string().min(1).optional().describe('id or name of the session; may be left out while there is one'),
  container_name: z.string().min(1).optional().describe('the same as session'),
  epoch: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('the epoch that your last result gave; a call with an older one is told of the rewind first'),
}

/** What every result says of the session. */
const sessionFields = { session: z.string(), epoch: z.number() }

export function defineTool<I extends z.ZodRawShape, O extends z.ZodRawShape>(definition: Definition<I, O>): Tool {
  const { name, title, description, effect, about = 'session', run } = definition
  const common = about === 'session' ? sessionArguments : {}
  return {
    name,
    description,
    input: z.strictObject({ ...definition.input, ...common }),
    output: z.object({ ...definition.output, ...sessionFields }),
    annotations: {
      title,
      readOnlyHint: effect === 'reads',
      destructiveHint: effect === 'destroys',
      idempotentHint: definition.idempotent ?? effect === 'reads',
      openWorldHint: definition.openWorld ?? false,
    },
    about,
    standsAlone: (args) => about === 'none' || (definition.standsAlone?.(args as z.output<z.ZodObject<I>>) ?? false),
    acts: about === 'session' && effect !== 'reads',
    run: (call, args) => run(call, args as z.output<z.ZodObject<I>>),
  }
}
