/**
 * One call of a tool from beginning to end: which session is meant, whether the caller knows what became of it, the
 * work itself, and the answer. A rewind that the caller has not heard of is told before anything else; what would
 * change the session is then not done, so that nobody acts on files that are gone.
 */
import { type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server'
import { fromRpcError, InvalidOptionError, type Missed, noticeOf, SessionRewoundError } from '../contract/index.ts'
import { type Answer, answer, failure } from './answers.ts'
import type { ToolClient } from './client.ts'
import type { AgentHost } from './host.ts'
import { tellOf } from './telling.ts'
import type { Call, CallKey, Question, Tool } from './tool.ts'

export interface ToolRequest {
  host: AgentHost
  client: ToolClient
  /** How the client's program calls itself. */
  by: string
  tool: Tool
  args: Record<string, unknown>
  signal: AbortSignal
  key: CallKey | null
  progress: ((message: string) => void) | null
  elicited: Record<string, unknown> | null
}

/** An epoch that none is after: to ask for nothing but the current one. */
const LATEST = Number.MAX_SAFE_INTEGER

/** What gives a conversation as it is now. */
const HISTORY = 'get_agent_memory'

/** Never throws: what fails is an answer that says what to do. */
export const runTool = (request: ToolRequest): Promise<Answer | InputRequiredResult> =>
  request.client.track(
    (request.tool.standsAlone(request.args) ? runAlone(request) : runOnSession(request)).catch((error: unknown) =>
      failure(error),
    ),
  )

async function runAlone(request: ToolRequest): Promise<Answer> {
  const { host, client, by, tool, args } = request
  const began = performance.now()
  const outcome = await tool.run({ ...request, session: '', epoch: 0 }, args)
  const { session = { id: '', epoch: 0 } } = outcome
  if (session.id !== '') {
    client.used(session.id)
    client.sees(session.id, session.epoch)
  }
  const done = answer({ ...outcome.data, session: session.id, epoch: session.epoch }, outcome.failed ?? false)
  const elapsedMs = performance.now() - began
  void client.track(tellOf(host, { session: session.id, client: by, tool: tool.name, args, elapsedMs })(done))
  return done
}

async function runOnSession(request: ToolRequest): Promise<Answer | InputRequiredResult> {
  const { host, client, tool } = request
  const { session: named, container_name: alias, epoch: given, ...args } = request.args
  const ref = (alias ?? named ?? client.session ?? (await onlyOne(host))) as string
  const now = await host.timeline.missed({ session: ref, since: LATEST })
  const { session } = now
  const tell = tellOf(host, { session, client: request.by, tool: tool.name, args })
  const { answer: done, ask } = await runKnown(request, now, args, given as number | undefined).catch(
    (error: unknown) => ({ answer: failure(error), ask: undefined }),
  )
  void client.track(tell(done))
  return ask ? inputRequired(inputOf(ask)) : done
}

/** The call itself, once it is known what it is about: answered with what the client missed, where it missed something. */
async function runKnown(
  request: ToolRequest,
  now: Missed,
  args: Record<string, unknown>,
  given: number | undefined,
): Promise<{ answer: Answer; ask?: Question | undefined }> {
  const { host, client, tool } = request
  const { session } = now
  client.used(session)
  const epoch = Math.min(given ?? client.seen(session) ?? now.epoch, now.epoch)
  const missed = epoch < now.epoch ? await host.timeline.missed({ session, since: epoch }) : null
  if (missed && tool.acts) return { answer: refused(client, missed) }

  const call: Call = { ...request, session, epoch }
  try {
    const outcome = await tool.run(call, args)
    const known = Math.max(client.seen(session) ?? 0, missed?.epoch ?? epoch, outcome.epoch ?? 0)
    client.sees(session, outcome.rolledBack ? await afterRule(host, session, known) : known)
    const data = { ...outcome.data, session, epoch: client.seen(session) }
    if (outcome.gone) client.forget(session)
    return {
      answer: answer(data, outcome.failed ?? false, missed ? noticeOf(missed, HISTORY) : null),
      ask: outcome.ask,
    }
  } catch (error) {
    const known = fromRpcError(error)
    // It came between the question and the work.
    if (known instanceof SessionRewoundError && Number(known.data.epoch) > epoch && tool.acts)
      return { answer: refused(client, await host.timeline.missed({ session, since: epoch })) }
    return { answer: failure(known, missed ? noticeOf(missed, HISTORY) : null) }
  }
}

const inputOf = ({ id, message, schema }: Question) => ({
  inputRequests: { [id]: inputRequired.elicit({ message, requestedSchema: schema }) },
})

/** The epoch after an automatic rollback that the answer itself tells of; a person's rewind since stays to be told. */
async function afterRule(host: AgentHost, session: string, known: number): Promise<number> {
  const { rewinds } = await host.timeline.missed({ session, since: known })
  const [first] = rewinds
  return first?.by === 'rule' ? first.epoch : known
}

function refused(client: ToolClient, missed: Missed): Answer {
  client.sees(missed.session, missed.epoch)
  return failure(
    new SessionRewoundError('This call was not carried out.', {
      nextStep: `Look at what changed; then call again if it still makes sense (epoch ${missed.epoch}).`,
    }),
    noticeOf(missed, HISTORY),
  )
}

/** @throws InvalidOptionError that lists them when there is not exactly one */
async function onlyOne(host: AgentHost): Promise<string> {
  const all = (await host.sessions.list()).filter(({ status }) => status !== 'ended' && status !== 'destroyed')
  const [first, ...others] = all
  if (first && others.length === 0) return first.id
  throw new InvalidOptionError(first ? 'Several sessions are live; say which one is meant.' : 'There is no session.', {
    nextStep: first
      ? `Pass \`session\`: ${all.map(({ name, id, workspace }) => `${id} (${name}, ${workspace})`).join('; ')}.`
      : 'Begin one with init_sandbox.',
  })
}
