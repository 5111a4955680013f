/**
 * A rollback, live on your machine: a tool call that breaks a file, a check that finds out, and files and conversation
 * back at the point before. Run it with Node 24: `node examples/quick-start.ts`.
 */
import { VerificationFailedError, Verifier, withSession } from 'rewind-desktop/sdk'

const GOOD = "def authenticate(user, pw):\n    return user == 'admin' and pw == 'correct-horse'\n"
const BROKEN = "def authenticate(user, pw):\n    return user == 'admin' and pw ==\n" // syntax error

// What decides: one JSON object on stdout.
const VERIFY = `\
import py_compile, json
try:
    py_compile.compile('auth.py', doraise=True)
    print(json.dumps({'status': 'pass'}))
except py_compile.PyCompileError:
    print(json.dumps({'status': 'fail'}))
`

await withSession({ name: 'demo', workspace: './demo_workspace', autoCommit: true }, async (sandbox) => {
  console.log('Sandbox started.')
  await sandbox.writeFile('auth.py', GOOD)
  await sandbox.writeFile('verify.py', VERIFY)
  await sandbox.checkpoint('stable')

  await sandbox.autoRollback(['exception', 'test_failure'], {
    to: 'stable',
    verifier: new Verifier({ command: 'python3 verify.py' }),
  })

  // An agent in the middle of a tool call, and a write that breaks the file.
  const dangling = [{ role: 'assistant', content: '', tool_calls: [{ id: '1' }] }]
  await sandbox.onToolCall(dangling, 'write_file')
  await sandbox.writeFile('auth.py', BROKEN)

  try {
    await sandbox.runTests() // fails, and the rule rolls back
  } catch (error) {
    if (!(error instanceof VerificationFailedError)) throw error
  }

  const restored = await sandbox.getMessages()
  console.log('File reverted:', (await sandbox.readFile('auth.py', 'utf-8')) === GOOD)
  console.log('Dangling message dropped:', !restored.some((message) => 'tool_calls' in message))
  console.log('The agent is told:', restored)
})
