/** Run as a process of its own: commits one setting, then dies in the midst of a transaction over several tables. */
import { openStore } from './index.ts'
import { sessionRow } from './session-row.fixture.ts'

const store = openStore(process.argv[2] ?? '')
store.settings.set('before', 'committed')
store.transaction(() => {
  store.sessions.insert(sessionRow())
  store.messages.setHead('s1', {
    conversation: 'main',
    node: store.messages.save([{ role: 'user', content: 'lost' }]),
    format: 'openai',
  })
  store.settings.set('before', 'overwritten')
  process.stdout.write('in transaction\n')
  process.kill(process.pid, 'SIGKILL')
})
