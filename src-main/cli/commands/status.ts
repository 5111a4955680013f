/** `rewind status` and `rewind sessions`: how things stand. */
import { hostNotice } from '../../contract/host-words.ts'
import type { RetentionRule, SessionDetails, SessionSummary } from '../../contract/index.ts'
import { bytes, visibleName } from '../../contract/text.ts'
import type { Define } from '../command.ts'
import { ago, count, table } from '../output.ts'

export const defineStatus: Define = (program, action) => {
  program
    .command('status')
    .description('one session: state, checkpoints, processes, rules')
    .action(
      action(async (cli) => {
        const { rpc, session } = await cli.begin()
        const details = await rpc.sessions.get({ session })
        cli.out.result(asData(details), asText(details))
      }),
    )
  program
    .command('sessions')
    .description('all sessions of this data folder')
    .action(
      action(async (cli) => {
        const sessions = await (await cli.rpc()).sessions.list()
        cli.out.result({ sessions, count: sessions.length }, listed(sessions))
      }),
    )
}

function asData({ labels, messages, bytes: usage, ...rest }: SessionDetails): object {
  const { checkpoints: checkpointCount, ...facts } = rest
  return {
    ...facts,
    container: rest.name,
    checkpoints: labels,
    checkpointCount,
    // Each checkpoint holds the conversation too.
    memoryCheckpoints: labels,
    messageCount: messages,
    usage,
  }
}

function standing({ status, halted, pendingEscalations }: SessionDetails): string {
  const more = pendingEscalations > 0 ? ', waits for an answer' : ''
  return `${status}${halted && status !== 'halted' ? ', halted' : ''}${more}`
}

function asText(details: SessionDetails): string {
  const { uncommitted, rules } = details
  const changed = uncommitted && uncommitted.added + uncommitted.modified + uncommitted.deleted
  const rows: [string, string][] = [
    ['session', `${visibleName(details.name)} (${details.id})`],
    ['status', standing(details)],
    ['engine', `${details.engine}: ${details.engineDetail}`],
    ...(details.image === null ? [] : [['image', details.image] satisfies [string, string]]),
    ['goes back', details.scope === 'machine' ? 'the whole machine' : 'workspace, temporary files and home'],
    ['workspace', visibleName(details.workspace)],
    ['base', details.base === 'live' ? 'live, the folder itself is the lowest layer' : 'a copy of the workspace'],
    ['mode', details.mode],
    [
      'checkpoints',
      details.labels.length === 0 ? 'none yet' : details.labels.map((label) => visibleName(label)).join(', '),
    ],
    [
      'since then',
      changed === null ? 'not counted' : changed === 0 ? 'no change' : `${count(changed, 'file')} changed`,
    ],
    ['messages', String(details.messages)],
    ['processes', details.processes.length === 0 ? 'none' : details.processes.map(asProcess).join(', ')],
    ['layers', details.layers + (details.bytes === null ? '' : `, ${bytes(details.bytes)}${of(rules.retention)}`)],
    ['auto-checkpoint', rules.autoCheckpoint ? keeps(rules.autoCheckpoint.keepLast) : 'off'],
    [
      'auto-rollback',
      rules.autoRollback
        ? `on ${rules.autoRollback.events.join(', ')} to ${visibleName(rules.autoRollback.to)}`
        : 'off',
    ],
  ]
  const host = hostNotice(details)
  return [table(rows), ...[...details.notes, ...(host ? [host] : [])].map((note) => visibleName(note))].join('\n')
}

const of = ({ budgetBytes }: RetentionRule) => (budgetBytes === null ? '' : ` of ${bytes(budgetBytes)}`)
const keeps = (keepLast: number | null) => (keepLast === null ? 'on' : `on, keeps the last ${keepLast}`)
const asProcess = ({ pid, command }: SessionDetails['processes'][number]) => `${visibleName(command)} (${pid})`

function listed(sessions: readonly SessionSummary[]): string {
  if (sessions.length === 0) return 'No sessions yet. Begin one with `rewind init PATH`, or see `rewind demo`.'
  return table([
    ['SESSION', 'STATUS', 'ENGINE', 'BEGUN', 'CHECKPOINTS', 'WORKSPACE'],
    ...sessions.map((session) => [
      visibleName(session.name),
      session.status,
      session.engine,
      ago(session.createdAt),
      String(session.checkpoints),
      visibleName(session.workspace),
    ]),
  ])
}
