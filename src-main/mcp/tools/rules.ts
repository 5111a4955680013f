/** Automatic rules of a session, and the verifier that one of them asks. */
import { z } from 'zod'
import {
  AutoRollback,
  CommandError,
  fromRpcError,
  InvalidOptionError,
  RollbackEvent,
  VerificationFailedError,
  VerificationUnknownError,
} from '../../contract/index.ts'
import { joined, listen, questionOf } from '../elicitation.ts'
import { late, within } from '../pending.ts'
import { type Call, defineTool, type Outcome, type Tool } from '../tool.ts'
import { waitingIn } from './escalations.ts'
import { autoRollbackField, autoRollbackOf, commandLine, oneOf } from './shapes.ts'

const autoCheckpoint = defineTool({
  name: 'configure_auto_checkpoint',
  title: 'Checkpoints before tool calls',
  description:
    'Takes a checkpoint before every command, write and read that comes over these tools, and keeps the last few. ' +
    'trigger null switches it off.',
  input: {
    trigger: z.literal('before_tool_call').nullable().default('before_tool_call'),
    keep_last: z.number().int().min(1).nullable().default(5).describe('automatic checkpoints that stay; null for all'),
  },
  output: { status: z.enum(['on', 'off']), trigger: z.string().nullable(), keep_last: z.number().nullable() },
  effect: 'adds',
  idempotent: true,
  async run({ host, session, epoch }, { trigger, keep_last }) {
    const { rules } = await host.rules.autoCheckpoint({ session, epoch, on: trigger !== null, keepLast: keep_last })
    const rule = rules.autoCheckpoint
    return {
      data: { status: onOrOff(rule), trigger: rule?.trigger ?? null, keep_last: rule?.keepLast ?? null },
    }
  },
})

const verifierArgument = z.strictObject({
  command: commandLine,
  retries: z.number().int().min(0).default(3).describe('how often an unknown verdict is asked for again'),
  retry_delay: z.number().min(0).default(2).describe('seconds between two of them'),
  timeout: z.number().positive().nullable().default(30).describe('seconds of one run; null for no limit'),
})

const autoRollback = defineTool({
  name: 'configure_auto_rollback',
  title: 'Roll back when something fails',
  description:
    'Rolls files and conversation back by itself: on `exception` when a command fails or runs into its time limit, on ' +
    '`test_failure` when the verifier says fail. The verifier is a command that prints one JSON object with a status of ' +
    'pass, fail or unknown; on an unknown a person is asked. events null switches it off.',
  input: {
    events: z.array(RollbackEvent).min(1).nullable().optional().describe('["exception"] by default'),
    events_json: z.string().optional().describe('the same as JSON text'),
    to: z.string().min(1).default('latest').describe('label of a checkpoint, also one yet to be taken'),
    verifier: verifierArgument.optional(),
    verifier_json: z.string().optional().describe('the same as JSON text'),
  },
  output: {
    status: z.enum(['on', 'off']),
    events: z.array(RollbackEvent),
    to: z.string().nullable(),
    verifier: z.string().nullable(),
  },
  effect: 'adds',
  idempotent: true,
  async run({ host, session, epoch }, { events, events_json, to, verifier, verifier_json }) {
    const wanted = parsed(
      z.array(RollbackEvent).min(1).nullable(),
      'events',
      oneOf('events', events, events_json) ?? (events === null ? null : ['exception']),
    )
    const asked = oneOf('verifier', verifier, verifier_json)
    const spec = asked === undefined ? null : parsed(verifierArgument, 'verifier', asked)
    const { rules } = await host.rules.autoRollback({
      session,
      epoch,
      on: wanted !== null,
      ...(wanted ? { events: wanted } : {}),
      to,
      verifier: spec && {
        command: spec.command,
        retries: spec.retries,
        retryDelayMs: spec.retry_delay * 1000,
        timeoutMs: spec.timeout === null ? null : spec.timeout * 1000,
      },
    })
    const rule = rules.autoRollback
    return {
      data: {
        status: onOrOff(rule),
        events: rule?.events ?? [],
        to: rule?.to ?? null,
        verifier: rule?.verifier ? [rule.verifier.command].flat().join(' ') : null,
      },
    }
  },
})

const onOrOff = (rule: object | null) => (rule ? ('on' as const) : ('off' as const))

/** @throws InvalidOptionError that says what is wrong with what came as JSON text */
function parsed<S extends z.ZodType>(schema: S, name: string, value: unknown): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new InvalidOptionError(`${name} is not what it should be: ${z.prettifyError(result.error)}`, {
    nextStep: 'See the schema of this tool.',
  })
}

const verificationFields = {
  pending: z.boolean().describe('it still runs, or a person is asked: go on with `continue_with`'),
  id: z.string().optional(),
  continue_with: z.enum(['get_command', 'get_escalation']).optional().describe('the tool that takes the id'),
  status: z.enum(['pass', 'fail', 'unknown']).optional(),
  verdict: z.string().optional().describe('the verdict as text'),
  resolution: z.enum(['continue', 'rollback']).optional().describe('what was decided on an unknown verdict'),
  auto_rollback: autoRollbackField.optional(),
}

const verify = defineTool({
  name: 'run_verification',
  title: 'Run the verifier',
  description:
    'Runs the verifier of the auto-rollback rule, or judges another command by the same contract; without a verifier the ' +
    'exit code of cmd decides. A fail rolls back where the rule says so. Where the verifier cannot decide, a person is asked, ' +
    'and the session halts where nobody is there.',
  input: { cmd: commandLine.optional() },
  output: verificationFields,
  effect: 'destroys',
  openWorld: true,
  async run(call, { cmd }) {
    const asking = call.elicited ? await listen(call) : null
    try {
      const work = ((await joined(call))?.work as Promise<Judged> | undefined) ?? judged(call, cmd ?? null)
      const settled = asking ? Promise.race([work, asking.question]) : work
      const outcome = await within(call.client.patienceMs, settled, new AbortController().signal)
      if (outcome === late) return await goesOn(call, work)
      if (!('evidence' in outcome)) return outcome
      call.client.asked.add(outcome.id)
      call.client.judging.set(outcome.id, work)
      // Whoever makes the call again meets its failure; nobody may.
      work.catch(() => {})
      return { ...pendingAs(outcome.id), ask: questionOf(outcome) }
    } finally {
      asking?.stop()
    }
  },
})

type Judged = Omit<Outcome, 'data'> & { data: z.input<z.ZodObject<typeof verificationFields>> }

const pendingAs = (id: string) => ({ data: { pending: true, id, continue_with: 'get_escalation' as const } })

/** What takes longer than a client waits. */
async function goesOn(call: Call, work: Promise<Judged>): Promise<Judged> {
  const asked = await waitingIn(call)
  if (asked) return pendingAs(asked.id)
  const id = call.client.pending.add(work.then(({ data }) => data))
  return { data: { pending: true, id, continue_with: 'get_command' } }
}

/** A fail is an answer, and what was decided on an unknown; a halt is an error. */
async function judged({ host, session, epoch }: Call, command: string | string[] | null): Promise<Judged> {
  try {
    const { text } = await host.rules.runTests({ session, epoch, command })
    return { data: { pending: false, status: 'pass', verdict: text, auto_rollback: null } }
  } catch (error) {
    const known = fromRpcError(error)
    const isUnknown = known instanceof VerificationUnknownError
    if (!(known instanceof VerificationFailedError || known instanceof CommandError || isUnknown)) throw known
    const done = AutoRollback.nullable()
      .catch(null)
      .parse(known.data.autoRollback ?? null)
    if (isUnknown)
      return {
        failed: true,
        // Who decided has begun this epoch, and this answer tells of it.
        ...(done?.status === 'rolled_back' && known.data.epoch === epoch + 1 ? { epoch: epoch + 1 } : {}),
        data: {
          pending: false,
          status: 'unknown',
          verdict: known.message,
          resolution: done ? 'rollback' : 'continue',
          auto_rollback: autoRollbackOf(done),
        },
      }
    return {
      failed: true,
      rolledBack: done?.status === 'rolled_back',
      data: { pending: false, status: 'fail', verdict: known.message, auto_rollback: autoRollbackOf(done) },
    }
  }
}

export const ruleTools: readonly Tool[] = [autoCheckpoint, autoRollback, verify]
