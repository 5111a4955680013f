/** Looks in a sandbox for what its project is worked on with, and says what an agent will miss there. */
import { randomUUID } from 'node:crypto'
import type { EngineName } from '../contract/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { ProjectNeeds, Wanted } from './project-programs.ts'

/** As long as this a session's beginning waits for the answer, milliseconds. */
const PATIENCE_MS = 5_000
const ANSWER_BYTES = 64 << 10

/** Prints what is not there, a line each. What has a slash is a file in the workspace. */
const LOOK = `for program; do
  case $program in
    */*) [ -x "$program" ] ;;
    *) command -v -- "$program" ;;
  esac >/dev/null 2>&1 || printf '%s\\n' "$program"
done
for libc in /lib/ld-musl-*; do [ ! -e "$libc" ] || printf 'libc musl\\n'; done`

/**
 * @param host the workspace's folder on the host: what was installed there may name it
 * @returns sentences for a person; none where nothing is missing
 */
export async function missingPrograms(sandbox: Sandbox, needs: ProjectNeeds, host: string): Promise<string[]> {
  const { programs, venvs, foreign } = needs
  const pythons = new Map(venvs.map((name) => [`./${name}/bin/python`, name]))
  const notes = foreign.map(
    (system) =>
      `node_modules holds packages that were installed for ${system}: install them anew inside before anything is run.`,
  )
  if (programs.length === 0 && venvs.length === 0 && !needs.glibc) return notes
  const answer = await look(sandbox, [...programs.map(({ program }) => program), ...pythons.keys()])
  if (answer === null) return [...notes, 'Whether the programs that the project wants are in the sandbox is not known.']
  const { engine, workspace } = sandbox.facts
  const missing = programs.filter(({ program }) => answer.has(program))
  if (missing.length > 0) notes.push(`Not in the sandbox: ${missing.map(told).join(', ')}. ${REMEDIES[engine]}`)
  for (const [python, name] of pythons) {
    if (answer.has(python)) notes.push(`${name} was made for a Python that is not in the sandbox: make it anew inside.`)
    else if (workspace !== host)
      notes.push(`The scripts of ${name} name it by its place on the host: call them by ${name}/bin/python -m NAME.`)
  }
  if (needs.glibc && answer.has('libc musl'))
    notes.push('node_modules holds packages for glibc, and the sandbox has musl: install them anew inside.')
  return notes
}

const told = ({ program, because }: Wanted): string => `${program} (${because})`

const REMEDIES: Record<EngineName, string> = {
  docker:
    'Begin with an image that has them, or install them as root: rewind exec --user root -- apt-get install NAME.',
  local: 'It has this machine’s programs, and of the homes what lay on PATH when the host was started.',
}

/** @returns the lines that were printed; null where that took too long or went wrong */
async function look(sandbox: Sandbox, words: readonly string[]): Promise<ReadonlySet<string> | null> {
  try {
    const command = ['sh', '-c', LOOK, 'look', ...words]
    const running = await sandbox.exec({ id: `look-${randomUUID()}`, command, timeoutMs: PATIENCE_MS })
    const { status, code } = await running.ended
    const lines = Buffer.from(await running.read('stdout', 0, ANSWER_BYTES)).toString()
    await running.collect(null)
    return status === 'exited' && code === 0 ? new Set(lines.split('\n').filter(Boolean)) : null
  } catch {
    // The sandbox is there all the same: what is wrong with it shows with the first command.
    return null
  }
}
