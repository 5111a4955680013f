/** Looks in a sandbox for what its project is worked on with, and says what an agent will miss there. */
import { randomUUID } from 'node:crypto'
import type { SandboxScope } from '../contract/index.ts'
import type { Sandbox } from '../sandbox/index.ts'
import type { ProjectNeeds, Wanted } from './project-programs.ts'

/** As long as this a session's beginning waits for the answer, milliseconds. */
const PATIENCE_MS = 5_000
const ANSWER_BYTES = 64 << 10

/** Where programs are installed from, in images of Debian's family. */
const INSTALLER = 'apt-get'

/**
 * Prints what is not there, a line each. What has a slash is the Python of an environment in the workspace: its packages
 * are for the version that it leads to.
 */
const LOOK = `for program; do
  case $program in
    */*)
      python=$(readlink -f "$program")
      [ -x "$program" ] && case $python in
        */python3.*) [ -d "\${program%/bin/python}/lib/\${python##*/}" ] ;;
      esac ;;
    *) command -v -- "$program" ;;
  esac >/dev/null 2>&1 || printf '%s\\n' "$program"
done
for libc in /lib/ld-musl-*; do [ ! -e "$libc" ] || printf 'libc musl\\n'; done`

export interface Setting {
  /** The workspace's folder on the host: what was installed there may name it. */
  host: string
  scope: SandboxScope
  network: boolean
}

/** @returns sentences for a person; none where nothing is missing */
export async function missingPrograms(sandbox: Sandbox, needs: ProjectNeeds, setting: Setting): Promise<string[]> {
  const { programs, venvs, foreign } = needs
  const pythons = new Map(venvs.map((name) => [`./${name}/bin/python`, name]))
  const notes =
    foreign.length === 0
      ? []
      : [
          `node_modules held packages for ${foreign.join(', ')} when it began: install them anew inside before anything is run.`,
        ]
  if (programs.length === 0 && venvs.length === 0 && !needs.glibc) return notes
  const answer = await look(sandbox, [...programs.map(({ program }) => program), ...pythons.keys(), INSTALLER])
  if (answer === null) return [...notes, 'Whether the programs that the project wants are in the sandbox is not known.']
  const missing = programs.filter(({ program }) => answer.has(program))
  if (missing.length > 0)
    notes.push(`Not in the sandbox when it began: ${missing.map(told).join(', ')}. ${remedy(sandbox, setting, answer)}`)
  for (const [python, name] of pythons) {
    if (answer.has(python))
      notes.push(`${name} was made for another Python than the sandbox had when it began: make it anew inside.`)
    else if (sandbox.facts.workspace !== setting.host)
      notes.push(`The scripts of ${name} name it by its place on the host: call them by ${name}/bin/python -m NAME.`)
  }
  if (needs.glibc && answer.has('libc musl'))
    notes.push('node_modules held packages for glibc, and the sandbox has musl: install them anew inside.')
  return notes
}

const told = ({ program, because }: Wanted): string => `${program} (${because})`

function remedy({ facts }: Sandbox, { scope, network }: Setting, missing: ReadonlySet<string>): string {
  if (facts.engine === 'local')
    return 'It has this machine’s programs, and of the homes what lay on PATH when the host was started.'
  return scope === 'machine' && network && !missing.has(INSTALLER)
    ? "Begin with an image that has them, or install them: rewind exec --user root -- sh -c 'apt-get update && apt-get install -y NAME'."
    : 'Begin with an image that has them.'
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
