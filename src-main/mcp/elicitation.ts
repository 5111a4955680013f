/**
 * Decisions asked for through the agent's own program, where a person switched that on: one way beside window and
 * terminal, and whoever answers first decides. The question goes out as the answer of the call, the call comes again with
 * what the person said, and joins the verification that waits meanwhile.
 */
import { acceptedContent } from '@modelcontextprotocol/server'
import { z } from 'zod'
import {
  CheckpointNotFoundError,
  DeclinedError,
  type Escalation,
  fromRpcError,
  Resolution,
  visible,
} from '../contract/index.ts'
import type { Call, Question } from './tool.ts'

const Decision = z.object({ decision: Resolution })

/** Lines of the verdict that are shown. */
const LINES = 12

export function questionOf({ id, sessionName, evidence }: Escalation): Question {
  const { attempts, checkpoint, verifierCommand, text, counts } = evidence
  return {
    id,
    message: [
      `The verifier of session ${visible(sessionName)} could not decide in ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}.`,
      `command: ${visible([verifierCommand].flat().join(' '))}`,
      `changes: +${counts.added} ~${counts.modified} -${counts.deleted}`,
      ...visible(text).split('\n').slice(0, LINES),
      'continue: go on, nothing counts as verified',
      `rollback: files and messages go back to ${visible(checkpoint ?? 'the rule’s checkpoint')}`,
      'stop: halt the session until somebody has looked at it',
    ].join('\n'),
    schema: {
      type: 'object',
      properties: { decision: { type: 'string', title: 'Decision', enum: [...Resolution.options] } },
      required: ['decision'],
    },
  }
}

/**
 * Listens for questions of this session, and is there to be asked from then on.
 * @returns the first that its person was not asked yet, and the end of listening
 */
export async function listen({
  host,
  session,
  client,
}: Call): Promise<{ question: Promise<Escalation>; stop(): void }> {
  const over = new AbortController()
  const waiting = await host.escalations.watch({ as: 'elicitation', session }, { signal: over.signal })
  let next = await waiting.next()
  const { promise: question, resolve } = Promise.withResolvers<Escalation>()
  const follow = async () => {
    for (; !next.done; next = await waiting.next()) {
      const found = next.value.find(({ id }) => !client.asked.has(id))
      if (found) return resolve(found)
    }
  }
  // The call that the question is for says what is wrong with the line.
  follow().catch(() => {})
  return { question, stop: () => over.abort() }
}

/**
 * Hands on what the person has answered with this call. No answer, or one that came late, leaves it to the others.
 * @returns the verification that waits for that decision, not waited for; null where the call is no such answer
 */
export async function joined({ host, client, elicited }: Call): Promise<{ work: Promise<unknown> } | null> {
  const id = Object.keys(elicited ?? {}).find((key) => client.judging.has(key))
  const work = id === undefined ? undefined : client.judging.get(id)
  if (id === undefined || !work) return null
  client.judging.delete(id)
  const said = acceptedContent(elicited ?? {}, id, Decision)
  if (said)
    try {
      await host.escalations.answer({ id, resolution: said.decision, via: 'elicitation' })
    } catch (error) {
      const known = fromRpcError(error)
      if (!(known instanceof DeclinedError || known instanceof CheckpointNotFoundError)) throw known
    }
  return { work }
}
