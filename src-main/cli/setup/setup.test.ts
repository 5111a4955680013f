import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse as parseJson } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AGENTS, type AgentName } from '../../contract/agents.ts'
import { InvalidOptionError, InvalidPathError } from '../../contract/errors.ts'
import { agentNamed, type SetupOptions, setupOf } from './agents.ts'
import { Setup } from './setup.ts'

let base: string
let user: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'rewind-setup-'))
  user = join(base, 'user')
  mkdirSync(user)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const setup = (agent: AgentName, options: Partial<SetupOptions> = {}): Setup =>
  new Setup(
    agent,
    setupOf(agent, { rewind: '/opt/rewind/bin/rewind', home: null, allow: [], env: {}, user, ...options }),
    join(base, 'data'),
  )

function lay(path: string, text: string): string {
  const whole = join(user, path)
  mkdirSync(dirname(whole), { recursive: true })
  writeFileSync(whole, text)
  return whole
}

const read = (path: string): string => readFileSync(join(user, path), 'utf8')

/** Every file of the person's, by path. */
function files(): Record<string, string> {
  const all = readdirSync(user, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    all.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(user.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}

/** Settings as a person may have them, awkward ones. */
const SETTINGS: Record<AgentName, Record<string, string>> = {
  claude: {
    '.claude.json': '{"numStartups": 34, "mcpServers": {"other": {"command": "x", "args": []}}}',
    '.claude/settings.json':
      '{\n\t// what I run\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint" }] }\n\t\t]\n\t},\n\t"model": "x",\n}\n',
  },
  codex: {
    '.codex/config.toml':
      '# mine\nmodel = "x" # why\n\n[mcp_servers.other]\ncommand = "y"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "z"',
  },
  opencode: { '.config/opencode/opencode.jsonc': '\ufeff{\r\n    /* mine */\r\n    "theme": "dark"\r\n}\r\n' },
  gemini: { '.gemini/settings.json': '' },
}

describe.each(AGENTS)('settings of %s', (agent) => {
  test.each(['none', 'awkward'])('%s: put in once, and taken out to the byte', (kind) => {
    if (kind === 'awkward') for (const [path, text] of Object.entries(SETTINGS[agent])) lay(path, text)
    const before = files()
    const { changes } = setup(agent).plan()
    expect(files()).toEqual(before)
    expect(existsSync(join(base, 'data'))).toBe(false)

    expect(setup(agent).apply().changes).toEqual(changes)
    const after = files()
    for (const change of changes) expect(after[change.path.slice(user.length + 1)]).toBe(change.after)
    expect(JSON.stringify(after)).toContain('hook')
    expect(setup(agent).apply().changes).toEqual([])
    expect(setup(agent).plan().changes).toEqual([])
    expect(files()).toEqual(after)

    expect(setup(agent).undo().changedSince).toEqual([])
    expect(files()).toEqual(before)
    expect(setup(agent).undo().changes).toEqual([])
  })

  test('set up anew with other options, it is still undone to what was there first', () => {
    for (const [path, text] of Object.entries(SETTINGS[agent])) lay(path, text)
    const before = files()
    setup(agent).apply()
    const again = setup(agent, { rewind: "/it's/bin/rewind", allow: ['/w "x"'], home: '/d d' })
    expect(again.apply().changes.length).toBeGreaterThan(0)
    expect(again.apply().changes).toEqual([])
    const all = Object.values(files()).join('\n')
    expect(all).not.toContain('/opt/rewind')
    expect(all.match(/REWIND_HOME/g)?.length).toBeGreaterThan(1)
    again.undo()
    expect(files()).toEqual(before)
  })

  test('without its record, what is Rewind’s is found and taken out', () => {
    for (const [path, text] of Object.entries(SETTINGS[agent])) lay(path, text)
    setup(agent).apply()
    rmSync(join(base, 'data'), { recursive: true })
    setup(agent).undo()
    expect(Object.values(files()).join('\n')).not.toMatch(/rewind/i)
  })
})

test('what is there keeps its comments and its order', () => {
  for (const [path, text] of Object.entries(SETTINGS.claude)) lay(path, text)
  setup('claude').apply()
  const text = read('.claude/settings.json')
  expect(text).toContain('\t// what I run\n')
  expect(text).toContain('\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint" }] }')
  expect(parseJson(text)).toMatchObject({
    hooks: { PreToolUse: [{ matcher: 'Bash' }, { matcher: expect.stringContaining('mcp__rewind__') }], Stop: [{}] },
    model: 'x',
  })
  for (const [path, toml] of Object.entries(SETTINGS.codex)) lay(path, toml)
  setup('codex').apply()
  expect(read('.codex/config.toml').startsWith(SETTINGS.codex['.codex/config.toml'] ?? '-')).toBe(true)
  expect(parseToml(read('.codex/config.toml'))).toMatchObject({
    model: 'x',
    mcp_servers: { other: { command: 'y' }, rewind: { args: ['mcp'] } },
    hooks: { Stop: [{ hooks: [{ command: 'z' }] }, {}], PreToolUse: [{}] },
  })
})

test.each<[AgentName, string, (text: string) => string, string]>([
  ['claude', '.claude.json', (text) => text.replace('34', '35'), '"numStartups": 35'],
  ['codex', '.codex/config.toml', (text) => `${text}\n[later]\na = 1\n`, '[later]\na = 1'],
  ['opencode', '.config/opencode/opencode.jsonc', (text) => text.replace('dark', 'light'), '"theme": "light"'],
])('%s: what was changed since setup stays when it is undone', (agent, path, edit, kept) => {
  for (const [path, text] of Object.entries(SETTINGS[agent])) lay(path, text)
  setup(agent).apply()
  lay(path, edit(read(path)))
  expect(setup(agent).undo().changedSince).toEqual([join(user, path)])
  expect(read(path)).toContain(kept)
  expect(read(path)).not.toContain('rewind')
})

test('a file that was there first stays, also where nothing is left in it', () => {
  lay('.gemini/settings.json', '{}')
  setup('gemini').apply()
  lay('.gemini/settings.json', `${read('.gemini/settings.json')} `)
  setup('gemini').undo()
  expect(read('.gemini/settings.json').trim()).toBe('{}')
})

test('an entry that a person wrote by hand is taken over, and comes back', () => {
  const by = '{"mcpServers": {"rewind": {"command": "rewind", "args": ["mcp", "--allow", "/p"]}}}'
  lay('.claude.json', by)
  setup('claude').apply()
  expect(parseJson(read('.claude.json')).mcpServers.rewind.command).toBe('/opt/rewind/bin/rewind')
  setup('claude').undo()
  expect(read('.claude.json')).toBe(by)
})

describe('refused, and nothing changed', () => {
  test.each<[string, AgentName, string, string, RegExp]>([
    ['broken JSON', 'claude', '.claude/settings.json', '{\n "a": 1\n "b": }', /is not JSON \(line \d/],
    ['a list', 'gemini', '.gemini/settings.json', '[]', /not a JSON object/],
    [
      'hooks of another kind',
      'gemini',
      '.gemini/settings.json',
      '{"hooks": {"AfterAgent": {}}}',
      /list at hooks.AfterAgent/,
    ],
    ['servers of another kind', 'claude', '.claude.json', '{"mcpServers": "no"}', /object at mcpServers/],
    ['broken TOML', 'codex', '.codex/config.toml', 'a = 1\nb = [', /is not TOML \(line 2/],
    ['a closed table', 'codex', '.codex/config.toml', 'mcp_servers = { a = { command = "x" } }\n', /is not TOML/],
    [
      'a server of that name',
      'codex',
      '.codex/config.toml',
      '[mcp_servers.rewind]\ncommand = "other"\n',
      /of its own already/,
    ],
    [
      'a server of that name',
      'opencode',
      '.config/opencode/opencode.json',
      '{"mcp":{"rewind":{"type":"remote"}}}',
      /something else as mcp.rewind/,
    ],
    ['a plugin of that name', 'opencode', '.config/opencode/plugins/rewind.js', 'mine()', /not Rewind's/],
    ['no text', 'gemini', '.gemini/settings.json', 'bytes', /not UTF-8/],
  ])('%s: %s', (kind, agent, path, text, message) => {
    lay(path, text)
    if (kind === 'no text') writeFileSync(join(user, path), Buffer.from([0x7b, 0xff, 0x7d]))
    const before = files()
    expect(() => setup(agent).apply()).toThrow(InvalidPathError)
    expect(() => setup(agent).apply()).toThrow(message)
    expect(files()).toEqual(before)
  })

  test('a read-only file: the others are as they were, too', () => {
    chmodSync(lay('.claude/settings.json', '{}'), 0o444)
    lay('.claude.json', '{"a": 1}')
    const before = files()
    expect(() => setup('claude').apply()).toThrow(/settings.json is read-only/)
    expect(files()).toEqual(before)
    expect(setup('claude').undo().changes).toEqual([])
  })

  test('a link that leads nowhere, and a folder', () => {
    mkdirSync(join(user, '.gemini'))
    symlinkSync('away.json', join(user, '.gemini/settings.json'))
    expect(() => setup('gemini').apply()).toThrow(/link that leads nowhere/)
    mkdirSync(join(user, '.codex/config.toml'), { recursive: true })
    expect(() => setup('codex').apply()).toThrow(/is no file/)
  })

  test('an agent that nobody knows', () => {
    expect(() => agentNamed('vim')).toThrow(InvalidOptionError)
    expect(() => agentNamed(undefined)).toThrow(/Which agent/)
    try {
      agentNamed('')
    } catch (error) {
      expect(error).toMatchObject({ nextStep: 'Name one: claude, codex, opencode, gemini.' })
    }
  })
})

test('a link stays one, and what it leads to keeps its mode', () => {
  const real = lay('dotfiles/settings.json', '{}')
  chmodSync(real, 0o640)
  mkdirSync(join(user, '.gemini'))
  symlinkSync('../dotfiles/settings.json', join(user, '.gemini/settings.json'))
  setup('gemini').apply()
  expect(lstatSync(join(user, '.gemini/settings.json')).isSymbolicLink()).toBe(true)
  expect(read('dotfiles/settings.json')).toContain('hook gemini')
  expect(statSync(real).mode & 0o777).toBe(0o640)
  expect(readdirSync(dirname(real))).toEqual(['settings.json'])
  setup('gemini').undo()
  expect(read('dotfiles/settings.json')).toBe('{}')
})

test('settings lie where the environment says', () => {
  const env = { CLAUDE_CONFIG_DIR: join(user, 'c'), CODEX_HOME: join(user, 'x'), XDG_CONFIG_HOME: join(user, 'g') }
  for (const agent of AGENTS) setup(agent, { env }).apply()
  expect(Object.keys(files()).sort()).toEqual([
    '.gemini/settings.json',
    'c/.claude.json',
    'c/settings.json',
    'g/opencode/opencode.json',
    'g/opencode/plugins/rewind.js',
    'x/config.toml',
  ])
})
