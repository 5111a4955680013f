/** The parts that tests may need from the machine, and how each is looked for. Free of vitest, for the runner's sake. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { absentPrograms } from './agents/programs.ts'

/**
 * - `local`: sandboxes of the local engine can be made here
 * - `userns`: the same as an ordinary user, by user namespaces
 * - `browser`: a Chromium that tests can start
 * - `agents`: programs of today's agents, driven with a scripted model
 * - `docker`: a docker engine that this user may use, with the product's image
 */
export const PARTS = ['local', 'userns', 'browser', 'agents', 'docker'] as const
export type Part = (typeof PARTS)[number]

export type Presence = { ok: true } | { ok: false; reason: string; remedy: string }

/** One line of the report that the runner reads: a suite that ran with its parts, or a part that it missed. */
export type ReportLine =
  | { suite: string; ran: readonly Part[] }
  | { suite: string; missing: Part; reason: string; remedy: string }

const PRESENT: Presence = { ok: true }

const probes: Record<Part, () => Presence> = {
  local: () => {
    if (process.platform !== 'linux') return missing('the local engine is for Linux', 'run on Linux')
    if (process.getuid?.() !== 0) return userNamespaces()
    if (succeeds('unshare', '-m', 'true')) return PRESENT
    return missing('unshare -m fails as root', 'install util-linux; a container needs CAP_SYS_ADMIN')
  },
  userns: () => {
    if (process.platform !== 'linux') return missing('user namespaces are for Linux', 'run on Linux')
    if (process.getuid?.() === 0) return missing('running as root', 'run the tests as an ordinary user')
    return userNamespaces()
  },
  browser: () =>
    chromium() === undefined ? missing('no Chromium', 'install chromium, or set REWIND_CHROMIUM to its path') : PRESENT,
  agents: () => {
    const absent = absentPrograms()
    return absent.length === 0
      ? PRESENT
      : missing(`not installed: ${absent.join(', ')}`, 'npm ci --prefix e2e/agents (700 MB; Linux on x64)')
  },
  docker,
}

const known = new Map<Part, Presence>()

/**
 * Whether the machine has a part. Looked at once per process, in a few milliseconds.
 * @returns the reason and the remedy where it does not
 */
export function have(part: Part): Presence {
  const answer = known.get(part) ?? probes[part]()
  known.set(part, answer)
  return answer
}

/**
 * The parts named in a list such as `local,browser`.
 * @throws when it names something that is no part: a typing error must not weaken a gate
 */
export function requiredParts(list: string | undefined): Part[] {
  const names = (list ?? '').split(',').map((name) => name.trim())
  return names.filter(Boolean).map((name) => {
    const part = PARTS.find((known) => known === name)
    if (part === undefined) throw new Error(`REWIND_REQUIRE names '${name}'; there are ${PARTS.join(', ')}`)
    return part
  })
}

/** The Chromium for tests: $REWIND_CHROMIUM (`none` says that there is none), else the first of its names on PATH. */
export function chromium(): string | undefined {
  const chosen = process.env.REWIND_CHROMIUM
  if (chosen === 'none') return undefined
  if (chosen) return chosen
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(folder, name)
      if (isExecutable(path)) return path
    }
  }
  return undefined
}

function userNamespaces(): Presence {
  if (succeeds('unshare', '-U', '-r', '-m', 'true')) return PRESENT
  return missing(
    'no user namespaces for ordinary users',
    'install util-linux, then sysctl kernel.unprivileged_userns_clone=1 (AppArmor: kernel.apparmor_restrict_unprivileged_userns=0)',
  )
}

/** Asked of the product itself, in a process of its own: the answer is waited for, as all answers here are. */
function docker(): Presence {
  const probe = join(import.meta.dirname, 'docker/probe.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [probe], { encoding: 'utf8', timeout: 30_000 })
  if (status !== 0) throw new Error(`e2e/docker/probe.ts failed: ${stderr}`)
  return JSON.parse(stdout) as Presence
}

function missing(reason: string, remedy: string): Presence {
  return { ok: false, reason, remedy }
}

function succeeds(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 5_000 }).status === 0
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
