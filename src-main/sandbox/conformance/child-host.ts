/**
 * A host in a process of its own, to be killed: makes a sandbox, does in it what the test wants, tells, and waits.
 * Arguments: the provider's module and factory, the data folder, the sandbox's spec and shell commands as JSON, and
 * `pause` to pause it then.
 */
import type { SandboxProvider, SandboxSpec } from '../sandbox.ts'

const [module = '', factory = '', home = '', spec = '{}', commands = '[]', last = ''] = process.argv.slice(2)
const loaded = (await import(module)) as Record<string, (options: { home: string }) => SandboxProvider>
const provider = loaded[factory]?.({ home })
if (provider === undefined) throw new Error(`${module} has no ${factory}`)
const sandbox = await provider.create(JSON.parse(spec) as SandboxSpec)
for (const { id, command, wait } of JSON.parse(commands) as { id: string; command: string; wait: boolean }[]) {
  const running = await sandbox.exec({ id, command })
  if (wait) await running.ended
}
if (last === 'pause') await sandbox.pause()
process.stdout.write('ready\n')
setInterval(() => {}, 60_000)
