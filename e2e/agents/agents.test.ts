/**
 * Today's agents' own programs against the product, their model scripted: over MCP as the tools' clients, and whole
 * inside a session.
 */
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CliAnswer, root, TestHost } from '../host.ts'
import { suiteNeeding } from '../needs.ts'
import { type Agent, agents, environmentOf, runAgent, shellTool, taskOf, writeModel } from './agents.ts'
import { programs } from './programs.ts'
import { ScriptedModel, type Step } from './scripted-model.ts'

/** An agent's program takes seconds to begin, on a busy machine many. */
const PATIENCE_MS = 300_000

suiteNeeding(['local', 'agents'], 'agents’ own programs, with a scripted model', () => {
  let host: TestHost
  let project: string
  let home: string
  const models: ScriptedModel[] = []

  beforeEach(async () => {
    host = await TestHost.begin()
    project = host.folder('project')
    home = host.folder('home')
    writeFileSync(join(project, 'app.py'), 'print("fine")\n')
  })
  afterEach(async () => {
    for (const model of models.splice(0)) model.end()
    await host?.end()
  })

  async function scripted(steps: readonly Step[]): Promise<ScriptedModel> {
    const model = await ScriptedModel.begin(steps)
    models.push(model)
    return model
  }

  describe.each(agents)('%s over MCP', (agent) => {
    test('saves a checkpoint, does damage, goes back, and goes on', { timeout: PATIENCE_MS }, async () => {
      const model = await scripted([
        { tool: 'init_sandbox', arguments: { path: project, container_name: 'work' } },
        { tool: 'create_sandbox_checkpoint', arguments: { name: 'good' } },
        { tool: 'execute_sandbox_command', arguments: { cmd: 'rm app.py && echo oops > notes.txt' } },
        { tool: 'rollback_sandbox_state', arguments: { name: 'good', patch_notes: 'do not use rm' } },
        { tool: 'read_sandbox_file', arguments: { path: 'app.py' } },
        { tool: 'write_sandbox_file', arguments: { path: 'next.txt', content: 'on we go\n' } },
        { tool: 'write_sandbox_file', arguments: { path: 'last.txt', content: 'done\n' } },
      ])
      writeModel(agent, home, model.url)
      await setUp(agent)
      const { code, stderr } = await runAgent(agent, withTools(agent), project, environmentOf(host, home))
      expect(model.faults, stderr).toEqual([])
      expect(code, stderr).toBe(0)
      expect(model.results).toEqual([
        expect.stringContaining('"attached":false'),
        expect.stringContaining('"checkpoint":"good"'),
        expect.stringContaining('"code":0'),
        expect.stringContaining('"status":"rolled_back"'),
        expect.stringContaining('print(\\"fine\\")'),
        expect.stringContaining('"status":"written"'),
        expect.stringContaining('"status":"written"'),
      ])
      await host.ask(async (rpc) => {
        const { changes } = await rpc.files.changes({ session: 'work', from: 'base' })
        expect(changes.map(({ path }) => path)).toEqual(['last.txt', 'next.txt'])
        const calls = await rpc.tools.list({ session: 'work' })
        expect(calls.every(({ client }) => client.includes(agent))).toBe(true)
        expect(calls.map(({ tool, status }) => `${tool} ${status}`)).toContain('rollback_sandbox_state done')
        // Its hook saved the first file before the tool that wrote the second one.
        const { points } = await rpc.timeline.get({ session: 'work' })
        const turns = points.filter(({ tool, why }) => tool === 'turn' && why === agent)
        expect(turns.length).toBeGreaterThan(0)
        const { changes: saved } = await rpc.files.changes({ session: 'work', from: 'base', to: turns[0]?.id ?? '' })
        expect(saved.map(({ path }) => path)).toEqual(['next.txt'])
      })
      expect(existsSync(join(project, 'app.py'))).toBe(true)
      expect(existsSync(join(project, 'next.txt'))).toBe(false)
    })

    test('is told of a person’s rewind between two of its calls', { timeout: PATIENCE_MS }, async () => {
      const model = await scripted([
        { tool: 'init_sandbox', arguments: { path: project, container_name: 'work' } },
        { tool: 'sandbox_checkpoint', arguments: { label: 'start' } },
        { tool: 'write_sandbox_file', arguments: { path: 'plan.md', content: 'step 1\n' } },
        {
          tool: 'execute_sandbox_command',
          arguments: { cmd: 'echo step 2 >> plan.md' },
          before: () => host.ask((rpc) => rpc.timeline.rollback({ session: 'work', to: 'start' })),
        },
        { tool: 'execute_sandbox_command', arguments: { cmd: 'echo again >> plan.md' } },
      ])
      writeModel(agent, home, model.url)
      await setUp(agent)
      const { code, stderr } = await runAgent(agent, withTools(agent), project, environmentOf(host, home))
      expect(model.faults, stderr).toEqual([])
      expect(code, stderr).toBe(0)
      expect(model.results[3]).toContain('[REWIND] This session was rewound since your last call.')
      expect(model.results[3]).toContain('Read again: plan.md.')
      expect(model.results[4]).toContain('"code":0')
      const { content } = await host.ask((rpc) => rpc.files.read({ session: 'work', path: 'plan.md' }))
      expect(content).toBe('again\n')
    })
  })

  describe.each(agents)('%s whole inside', (agent) => {
    test('its own shell is undone by a rewind, transcript and all', { timeout: PATIENCE_MS }, async () => {
      ownedByAgent(project)
      const inside = intoWorkspace(agent)
      const model = await scripted([
        shellTool[agent]('rm app.py; mkdir -p made && echo oops > made/by-agent.txt'),
        shellTool[agent]('cat made/by-agent.txt'),
      ])
      // Its home is the sandbox's; what it needs to know lies in the workspace.
      const settings = join(project, 'settings')
      writeModel(agent, settings, model.url)
      const env = [
        ...['--env', 'OPENCODE_DISABLE_MODELS_FETCH=1', '--env', 'OPENCODE_DISABLE_AUTOUPDATE=1'],
        ...['--env', `OPENCODE_CONFIG=${settings}/.config/opencode/opencode.json`],
      ]
      await host.json('init', '--session', 'work', '--base', 'live', project)
      if (agent === 'codex')
        await host.json('exec', '--session', 'work', 'mkdir -p ~/.codex && cp settings/.codex/config.toml ~/.codex/')
      await host.json('checkpoint', '--session', 'work', 'before')
      const { code, stderr } = await host.cli('--session', 'work', 'run', ...env, '--', inside, ...taskOf[agent])
      expect(model.faults, stderr).toEqual([])
      expect(code, stderr).toBe(0)
      expect(model.results).toHaveLength(2)
      expect(model.results[1]).toContain('oops')
      expect(stderr).toContain('Session work holds 2 changed files')

      const { points } = await host.ask((rpc) => rpc.timeline.get({ session: 'work' }))
      expect(points.at(-1)).toMatchObject({ takenBy: 'auto', tool: 'turn', why: agent })
      const transcripts = async () =>
        (
          await host.json<{ stdout: string }>(
            'exec',
            '--session',
            'work',
            `find ~ -name '*.jsonl' -o -name 'opencode.db' | grep -c . || true`,
          )
        ).stdout.trim()
      expect(Number(await transcripts())).toBeGreaterThan(0)

      await host.json('--session', 'work', 'rewind', '--to', 'before', '-y')
      expect(await transcripts()).toBe('0')
      await host.ask(async (rpc) => {
        const { changes } = await rpc.files.changes({ session: 'work', from: 'before' })
        expect(changes).toEqual([])
        const { content } = await rpc.files.read({ session: 'work', path: 'app.py' })
        expect(content).toBe('print("fine")\n')
      })
      // And on it goes.
      model.restart([shellTool[agent]('cat app.py')])
      const again = await host.cli('--session', 'work', 'run', ...env, '--', inside, ...taskOf[agent])
      expect(again.code, again.stderr).toBe(0)
      expect(model.results).toEqual([expect.stringContaining('print("fine")')])
      expect(readFileSync(join(project, 'app.py'), 'utf8')).toBe('print("fine")\n')
    })
  })

  test('MCP Inspector’s command line: checkpoint, damage, rewind, and on', { timeout: PATIENCE_MS }, async () => {
    const call = (tool: string, args: Record<string, string>, flags: readonly string[] = []): unknown => {
      const words = Object.entries(args).map(([name, value]) => `${name}=${value}`)
      const out = execFileSync(
        programs.inspector,
        [
          ...['--cli', '--method', 'tools/call', '--tool-name', tool, ...words.flatMap((word) => ['--tool-arg', word])],
          ...['-e', `REWIND_HOME=${host.home}`, '--', join(root, 'bin/rewind'), 'mcp', ...flags],
        ],
        { env: environmentOf(host, home), encoding: 'utf8', cwd: project },
      )
      return JSON.parse(out).structuredContent
    }
    expect(call('init_sandbox', { path: project, container_name: 'work' }, ['--allow', project])).toMatchObject({
      status: 'running',
    })
    const session = 'work'
    expect(call('sandbox_checkpoint', { session, label: 'good' })).toMatchObject({ checkpoint: 'good' })
    expect(call('execute_sandbox_command', { session, cmd: 'rm app.py' })).toMatchObject({ code: 0 })
    expect(call('sandbox_rewind', { session, to: 'good' })).toMatchObject({ status: 'rolled_back' })
    expect(call('read_sandbox_file', { session, path: 'app.py' })).toMatchObject({ content: 'print("fine")\n' })
    expect(call('write_sandbox_file', { session, path: 'n', content: 'x' })).toMatchObject({ status: 'written' })
  })

  test('Codex lists the server that rewind setup gave it, and no more once that is undone', async () => {
    const env = environmentOf(host, home)
    const listed = async () => (await runAgent('codex', ['mcp', 'list', '--json'], project, env)).stdout
    await setUp('codex')
    expect(JSON.parse(await listed())).toMatchObject([
      { name: 'rewind', enabled: true, transport: { args: ['mcp', '--allow', project] } },
    ])
    await rewind('setup', 'codex', '--undo')
    expect(JSON.parse(await listed())).toEqual([])
  })

  /** As a person does it, in the agent's own home. */
  const setUp = (agent: Agent) => rewind('setup', agent, '--allow', project)

  async function rewind(...args: string[]): Promise<void> {
    const { code, stderr } = await new Promise<CliAnswer>((resolve) => {
      execFile(join(root, 'bin/rewind'), args, { env: environmentOf(host, home) }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
      )
    })
    expect(code, stderr).toBe(0)
  }

  /** The program is on no PATH that the sandbox shows: it lies in the workspace. @returns how it is started there */
  function intoWorkspace(agent: Agent): string {
    mkdirSync(join(project, 'bin'))
    const path = join(project, 'bin', agent)
    try {
      linkSync(programs[agent], path)
    } catch {
      copyFileSync(programs[agent], path)
      chmodSync(path, 0o755)
    }
    return path
  }
})

/** Its task, not begun before its tools are there: Codex begins without those that are late. */
function withTools(agent: Agent): string[] {
  const [first = '', ...rest] = taskOf[agent]
  return agent === 'codex' ? [first, '-c', 'mcp_servers.rewind.required=true', ...rest] : taskOf[agent]
}

/** A workspace of root's own would be copied, programs of hundreds of megabytes with it. */
function ownedByAgent(folder: string): void {
  if (process.getuid?.() === 0) chownSync(folder, 1000, 1000)
}
