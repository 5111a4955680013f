/** Does one operation on the only session of a data folder, armed to die in the middle. Run by the crash suite. */
import { join } from 'node:path'
import { openStore } from '../store/index.ts'
import { openSessions } from './index.ts'

const [home = '', operation = ''] = process.argv.slice(2)
const manager = await openSessions({ home, store: openStore(join(home, 'store.db')) })
const [{ id } = { id: '' }] = manager.list()
const session = manager.find(id)
if (operation === 'checkpoint') await session.checkpoint({ label: 'second', why: null, messages: null, takenBy: 'you' })
else await session.rollback({ to: 'first', only: null, patchNotes: null })
process.stdout.write('done\n')
process.exit(0)
