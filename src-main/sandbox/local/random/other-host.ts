/**
 * Another host, in a process of its own, that takes hold of a sandbox and does one operation in it: to be killed in the
 * middle, by the test or at the crash point that it is armed with. Arguments: the data folder, the sandbox's id, the
 * operation as JSON.
 */
import type { FilesState } from '../../sandbox.ts'
import { createLocalProvider } from '../index.ts'

export type Operation =
  | { kind: 'checkpoint'; id: string }
  | { kind: 'rollback'; id: string; to: FilesState }
  | { kind: 'prune'; id: string; kept: FilesState[] }

const [home = '', id = '', text = ''] = process.argv.slice(2)
const operation = JSON.parse(text) as Operation
const sandbox = await createLocalProvider({ home }).attach(id)
process.stdout.write('ready\n')
if (operation.kind === 'checkpoint') await sandbox.checkpoint(operation.id)
else if (operation.kind === 'rollback') await sandbox.rollback(operation.id, operation.to)
else await sandbox.prune(operation.kept)
process.exit(0)
