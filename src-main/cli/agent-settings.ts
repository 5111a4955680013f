/**
 * An agent's own settings, given to it in a sandbox, whose home is empty: copies of an allow-list of files, and only
 * where a person said so. What they said is remembered for each agent; without a word, it is no.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { AGENTS } from '../contract/agents.ts'
import { DeclinedError } from '../contract/errors.ts'
import { visibleName } from '../contract/text.ts'
import { packageRoot, type Rpc } from '../serve/client/index.ts'
import { dataFolder, ensureHome } from '../serve/home.ts'
import type { Cli } from './cli.ts'
import { canAsk, confirm } from './prompt.ts'

/** Below a home: settings, instructions, and the login. */
const FILES: Record<string, readonly string[]> = {
  claude: ['.claude.json', '.claude/settings.json', '.claude/CLAUDE.md', '.claude/.credentials.json'],
  codex: ['.codex/config.toml', '.codex/AGENTS.md', '.codex/auth.json'],
  opencode: [
    '.config/opencode/opencode.json',
    '.config/opencode/opencode.jsonc',
    '.config/opencode/AGENTS.md',
    '.local/share/opencode/auth.json',
  ],
  gemini: ['.gemini/settings.json', '.gemini/GEMINI.md', '.gemini/oauth_creds.json', '.gemini/google_accounts.json'],
}

/** Settings are texts; what is longer than this is something else. Bytes. */
const LONGEST = 4 << 20

/** What the agent has changed in the sandbox stays. */
const COPY = 'test -e "$HOME/$1" || { umask 077; mkdir -p "$(dirname "$HOME/$1")" && cat >"$HOME/$1"; }'

/**
 * Copies them into the sandbox's home, where the person wants it.
 * @param program the name of the agent's program
 * @param said what the command line says; undefined asks, where somebody is there and was not asked before
 */
export async function lendSettings(
  cli: Cli,
  rpc: Rpc,
  session: string,
  program: string,
  said: boolean | undefined,
): Promise<void> {
  const user = process.env.HOME || homedir()
  const files = settingsOf(program, user)
  if (files.length === 0) {
    if (said) cli.out.note(`No settings of ${visibleName(program)} are known here.`)
    return
  }
  if (!(await isWanted(cli, program, files, said))) return
  const lent: string[] = []
  for (const path of files) {
    const content = await withoutRewind(program, user, path)
    if (content === null) continue
    const running = { session, id: crypto.randomUUID() }
    const command = ['sh', '-c', COPY, 'settings', path]
    await rpc.commands.start({ ...running, command, stdin: content.toString('base64') })
    const { code, stderr } = await rpc.commands.wait(running)
    if (code === 0) lent.push(`~/${path}`)
    else cli.out.problem(`~/${path} could not be passed on: ${visibleName(stderr.trim() || `code ${code}`)}`)
  }
  if (lent.length > 0) cli.out.note(`Passed on to ${visibleName(program)}: copies of ${lent.join(', ')}.`)
}

/** Those of the allow-list that are there, relative to the home. */
export function settingsOf(program: string, user: string): string[] {
  const wanted = Object.hasOwn(FILES, program) ? (FILES[program] ?? []) : []
  return wanted.filter((path) => {
    const facts = statSync(join(user, path), { throwIfNoEntry: false })
    return facts?.isFile() === true && facts.size <= LONGEST
  })
}

async function isWanted(
  cli: Cli,
  program: string,
  files: readonly string[],
  said: boolean | undefined,
): Promise<boolean> {
  const kept = join(dataFolder(), 'settings-lent.json')
  const known = remembered(kept)
  if (said === undefined && known[program] !== undefined) return known[program]
  if (said === undefined && !canAsk()) return false
  const wanted = said ?? (await agreed(program, files))
  if (known[program] !== wanted) {
    const { replace } = await import('./setup/files.ts')
    ensureHome(dirname(kept))
    replace(kept, JSON.stringify({ ...known, [program]: wanted }))
    cli.out.note(
      `Remembered for ${visibleName(program)}: \`rewind run ${wanted ? '--no-settings' : '--settings'}\` says otherwise.`,
    )
  }
  return wanted
}

async function agreed(program: string, files: readonly string[]): Promise<boolean> {
  const list = files.map((path) => `  ~/${path}\n`).join('')
  process.stderr.write(`The sandbox has an empty home. ${visibleName(program)} keeps these in yours:\n${list}`)
  try {
    await confirm('Give it copies? Whatever runs in the sandbox can read them.')
    return true
  } catch (error) {
    if (error instanceof DeclinedError) return false
    throw error
  }
}

function remembered(path: string): Record<string, boolean> {
  if (!existsSync(path)) return {}
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    return Object.fromEntries(Object.entries(value).filter(([, wanted]) => typeof wanted === 'boolean')) as Record<
      string,
      boolean
    >
  } catch {
    // Damaged: asked again.
    return {}
  }
}

/** The host is out of reach in a sandbox: a server that cannot begin is left out. @returns null where nothing is left */
async function withoutRewind(program: string, user: string, path: string): Promise<Buffer | null> {
  const whole = join(user, path)
  const bytes = readFileSync(whole)
  const { setupOf } = await import('./setup/agents.ts')
  const agent = AGENTS.find((one) => one === program)
  if (!agent) return bytes
  const rewind = join(packageRoot, 'bin/rewind')
  const { edits } = setupOf(agent, { rewind, home: null, allow: [], env: {}, user })
  const edit = edits.find((one) => one.path === whole)
  if (!edit) return bytes
  try {
    const left = edit.take(bytes.toString('utf8'))
    return left === null ? null : Buffer.from(left)
  } catch {
    // Not what it should be: that is for its agent to complain of.
    return bytes
  }
}
