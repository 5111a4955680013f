/** `rewind escalations`, `rewind answer`, `rewind resume`: verdicts that nobody could give, and how it goes on. */
import { Argument } from 'commander'
import type { Escalation, Resolution } from '../../contract/index.ts'
import { visible, visibleName } from '../../contract/text.ts'
import { type Define, given } from '../command.ts'
import { ago, table } from '../output.ts'
import { withVerdict } from './rules.ts'

const RESOLUTIONS = ['continue', 'rollback', 'stop'] as const satisfies readonly Resolution[]

export const defineEscalations: Define = (program, action) => {
  program
    .command('escalations')
    .description('verdicts that wait for a decision, in all sessions unless one is named')
    .argument('[id]', 'one of them, with what it is decided on')
    .option('--all', 'also those that are decided')
    .action(
      action<{ all?: boolean }>(async (cli, [id], { all }) => {
        const rpc = await cli.rpc()
        if (id !== undefined) {
          const escalation = await rpc.escalations.get({ id })
          cli.out.result(escalation, await wholeText(escalation))
          return
        }
        const escalations = await rpc.escalations.list({ session: cli.chosen ?? null, open: !all })
        cli.out.result({ escalations }, listed(escalations, all ?? false))
      }),
    )
  program
    .command('answer')
    .description('decide a verdict that nobody could give')
    .argument('<id>', 'of the escalation, as `rewind escalations` lists it')
    .addArgument(new Argument('<resolution>', 'how it goes on').choices(RESOLUTIONS))
    .option('--note <text>', 'why, for the ledger')
    .action(
      action<{ note?: string }>(async (cli, operands, { note }) => {
        const [id = '', resolution] = given(operands)
        const rpc = await cli.rpc()
        const escalation = await rpc.escalations.answer({
          id,
          resolution: resolution as Resolution,
          note: note ?? null,
          via: 'command line',
        })
        await cli.heard(escalation.session)
        cli.out.result(escalation, doneText(escalation))
      }),
    )
  program
    .command('resume')
    .description('have a halted session go on: a mended verifier says pass, or you waive the verdict')
    .option('--verifier <command>', 'the mended verifier; the rule has it from then on')
    .option('--note <text>', 'why, for the ledger')
    .action(
      action<{ verifier?: string; note?: string }>(async (cli, _operands, { verifier, note }) => {
        const { rpc, session } = await cli.begin('acts')
        try {
          const { session: now, text } = await rpc.sessions.resume({
            session,
            verifier: verifier === undefined ? null : { command: verifier },
            note: note ?? null,
          })
          const why = text === null ? 'unverified, as you decided' : `PASS ${visible(text)}`
          cli.out.result(
            { session: now.name, id: now.id, status: now.status, verdict: text === null ? null : 'pass', text },
            `${visibleName(now.name)} goes on: ${why}`,
          )
        } catch (error) {
          throw cli.out.json ? error : withVerdict(error)
        }
      }),
    )
}

function listed(escalations: readonly Escalation[], all: boolean): string {
  if (escalations.length === 0) return all ? 'No verdict was ever left open.' : 'Nothing waits for a decision.'
  const rows = escalations.map(({ id, sessionName, raisedAt, evidence, status, resolution }) => [
    id,
    visibleName(sessionName),
    ago(raisedAt),
    ...(all ? [resolution ?? status] : []),
    visibleName(evidence.text.split('\n')[0] ?? ''),
  ])
  const header = ['ID', 'SESSION', 'RAISED', ...(all ? ['DECISION'] : []), 'WHY']
  const how = '`rewind escalations ID` shows one, `rewind answer ID continue|rollback|stop` decides it'
  return [table([header, ...rows]), ...(escalations.some(({ status }) => status === 'open') ? ['', how] : [])].join(
    '\n',
  )
}

async function wholeText(escalation: Escalation): Promise<string> {
  const { decidedText, questionText } = await import('../../verification/index.ts')
  const { sessionName, status, evidence, id } = escalation
  const { lastResult, ...shown } = evidence
  const end =
    status === 'open' ? `\`rewind answer ${id} continue|rollback|stop\` decides it` : visible(decidedText(escalation))
  return `${questionText({ ...shown, ...lastResult, sessionName }).trim()}\n${end}`
}

function doneText({ sessionName, resolution, evidence: { checkpoint } }: Escalation): string {
  const name = visibleName(sessionName)
  if (resolution === 'continue') return `${name} goes on; nothing was verified`
  if (resolution === 'rollback') return `${name} is back at ${visibleName(checkpoint ?? 'base')}`
  return `${name} is halted\n  \`rewind resume --session ${name}\` lets it go on`
}
