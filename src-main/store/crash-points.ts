/**
 * The places in a journalled operation where a crash would hurt most, declared by name in one registry. The crash
 * suite kills the host (or the control shell) at every one of them and fails if one was not reached.
 */
export const crashPoints = [
  'checkpoint:intent-written',
  'checkpoint:frozen',
  'checkpoint:recorded',
  'rollback:intent-written',
  'rollback:swapped',
  'rollback:recorded',
] as const

/** Points while a session is ended or destroyed, after which the sandbox is not what the store says of it. */
export const endCrashPoints = ['end:sandbox-ended', 'destroy:sandbox-ended', 'destroy:sandbox-removed'] as const

/** Points while a session is paused or goes on again. */
export const pauseCrashPoints = ['pause:held', 'pause:released'] as const

/** Points while an escalation is raised, decided and carried out. */
export const escalationCrashPoints = ['escalation:raised', 'escalation:answered', 'escalation:carried-out'] as const

/** Points while an engine frees layers. */
export const pruneCrashPoints = ['prune:unmounted', 'prune:half-folded', 'prune:folded', 'prune:committed'] as const

/** Points while a run of layers is written as one. */
export const compactCrashPoints = ['compact:half-written', 'compact:written', 'compact:named'] as const

/** Points while an engine lays pre-images beneath all other layers. */
export const preImageCrashPoints = ['pre-images:written', 'pre-images:unmounted', 'pre-images:committed'] as const

/** Points while a commit is written to the host, or undone there. */
export const commitCrashPoints = [
  'commit:staged',
  'commit:kept',
  'commit:taken',
  'commit:put',
  'commit:applied',
  'commit:recorded',
] as const

/** Points inside the in-sandbox scripts: `crash NAME` in resources/sandbox. */
export const shellCrashPoints = [
  'shell:checkpoint-unmounted',
  'shell:checkpoint-mounted',
  'shell:checkpoint-copied',
  'shell:checkpoint-renamed',
  'shell:rollback-renamed',
  'shell:rollback-unmounted',
  'shell:rollback-mounted',
] as const

export type CrashPoint =
  | (typeof crashPoints)[number]
  | (typeof endCrashPoints)[number]
  | (typeof pauseCrashPoints)[number]
  | (typeof escalationCrashPoints)[number]
  | (typeof pruneCrashPoints)[number]
  | (typeof compactCrashPoints)[number]
  | (typeof preImageCrashPoints)[number]
  | (typeof commitCrashPoints)[number]

/** `name`, or `name#3` for the third time that it is reached. */
const [armed, time = '1'] = process.env.REWIND_CRASH_AT?.split('#') ?? []
let reached = 0

/** Dies here, as by `kill -9`, when the crash suite armed this point; otherwise does nothing. */
export function crashPoint(name: CrashPoint): void {
  if (armed === name && ++reached === Number(time)) process.kill(process.pid, 'SIGKILL')
}
