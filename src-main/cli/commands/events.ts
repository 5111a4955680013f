/** `rewind events`: what happens in sessions, a line per event; with --json an object per line, for scripts. */
import type { SessionEvent } from '../../contract/index.ts'
import { visibleName } from '../../contract/text.ts'
import { nameOf } from '../../contract/timeline.ts'
import type { Define } from '../command.ts'
import { whole } from '../numbers.ts'
import { snakeCase } from '../output.ts'

export const defineEvents: Define = (program, action) => {
  program
    .command('events')
    .description('what happened in sessions, oldest first')
    .option('--follow', 'go on with what happens, from now on')
    .option('--since <id>', 'begin after the event of this id', whole(0))
    .action(
      action<{ follow?: boolean; since?: number }>(async (cli, _operands, { follow = false, since }) => {
        const rpc = await cli.rpc()
        const only = cli.chosen === undefined ? null : (await rpc.sessions.get({ session: cli.chosen })).id
        const names = new Map((await rpc.sessions.list()).map(({ id, name }) => [id, name]))
        for await (const event of await rpc.events({ since: since ?? (follow ? null : 0), follow })) {
          if (event.type === 'sessionChanged') names.set(event.session, event.summary.name)
          if (only !== null && event.session !== only && event.type !== 'resync') continue
          await cli.out.eachLine(
            snakeCase(event),
            [
              event.at.toISOString(),
              visibleName(names.get(event.session) ?? (event.session || '-')),
              event.type,
              visibleName(about(event)),
            ].join('  '),
          )
        }
      }),
    )
}

/** What an event is about, in a few words. */
function about(event: SessionEvent): string {
  switch (event.type) {
    case 'sessionChanged':
      return event.summary.status
    case 'pointAdded':
    case 'pointChanged':
      return nameOf(event.point)
    case 'pointRemoved':
      return event.point
    case 'headMoved':
      return event.head
    case 'rewound':
      return `to ${event.head} by ${event.by}`
    case 'messagesChanged':
      return String(event.count)
    case 'commandStarted':
    case 'commandEnded':
      return `${event.command.status} ${[event.command.command].flat().join(' ')}`
    case 'toolCallStarted':
    case 'toolCallEnded':
      return `${event.call.status} ${event.call.client}: ${event.call.tool} ${event.call.arguments}`
    case 'verifierAttempt':
      return `${event.attempt} of ${event.of} ${event.verdict?.status ?? ''}`
    case 'ledgerAdded':
      return `${event.entry.eventType} ${event.entry.status ?? ''}`
    case 'escalationChanged':
      return `${event.escalation} ${event.status}`
    case 'demoStep':
      return event.text
    default:
      return ''
  }
}
