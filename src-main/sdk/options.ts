/** What a session is begun with. */
import { isAbsolute, resolve } from 'node:path'
import { InvalidOptionError } from '../contract/errors.ts'
import {
  assertOptions,
  assertValue,
  callback,
  flag,
  objectOf,
  oneOf,
  positiveOrNull,
  text,
  variables,
} from './checks.ts'
import type { EscalationHandler, EscalationResolution } from './escalation.ts'

/** What a session is begun with; every option may be left out. */
export interface SessionOptions {
  /**
   * How the session is called, 1 to 64 characters. A live session of the same name and workspace is attached to by
   * `start()`, and replaced by `session()` and `withSession()`. Default `'rewind_sandbox'`.
   */
  name?: string | undefined
  /** Another word for `name`; it wins where both are given. */
  containerName?: string | undefined
  /**
   * The folder on the host that the agent works on; it is made where it is missing. The home folder and `/` are
   * refused unless they are written out as an absolute path. Default `'.'`.
   */
  workspace?: string | undefined
  /**
   * What the sandbox is made of. `'auto'` takes docker where that runs and holds the image, else local. Default
   * `$REWIND_ENGINE`, else `'auto'`.
   */
  engine?: 'auto' | 'docker' | 'local' | undefined
  /** What docker runs. Default `$REWIND_IMAGE` with `engine: 'docker'`, else the product's own image. */
  image?: string | undefined
  /** `'agent'` asks nobody where a verifier cannot decide, and halts. Default `'interactive'`. */
  mode?: 'interactive' | 'agent' | undefined
  /**
   * Decides where a verifier cannot, and is asked alone, in either mode. Without one the window and this program's
   * terminal are asked in the mode `'interactive'`: the first answer counts. Default none.
   */
  escalationHandler?: EscalationHandler | undefined
  /**
   * How long such a decision is waited for, milliseconds (null for as long as it takes), and what is decided then. Default
   * `{ timeoutMs: null, onTimeout: 'stop' }`.
   */
  escalation?: { timeoutMs?: number | null | undefined; onTimeout?: EscalationResolution | undefined } | undefined
  /**
   * Whether a block that ends well commits its changes to the workspace. Where that fails (the host changed the same
   * files), the error is thrown and the session is kept. Default false.
   */
  autoCommit?: boolean | undefined
  /**
   * Whether the end of the block ends the session: processes and mounts are gone then, what was recorded and the files
   * of its checkpoints stay. A halted session is kept in any case. Default true.
   */
  destroyOnExit?: boolean | undefined
  /** Whether points hold images of processes. This version takes none, whichever is chosen. Default `'auto'`. */
  saveProcesses?: 'auto' | false | undefined
  /**
   * What goes back with a rewind: all that the image holds, or the workspace, temporary files and the home. Default
   * `'machine'` where the engine can, else `'workspace'`.
   */
  scope?: 'machine' | 'workspace' | undefined
  /** False gives the sandbox an empty network with loopback up. Default true. */
  network?: boolean | undefined
  /** Variables for every command. Default none. */
  env?: Record<string, string> | undefined
  /** Whether the host runs in this process, instead of one that all programs share. Default false. */
  embed?: boolean | undefined
  /** Whether the sandbox starts from a copy of the workspace, or takes the folder itself as its lowest layer. */
  base?: 'auto' | 'copy' | 'live' | undefined
  /** Bytes on disk that its points may hold; over that the oldest are pruned. Null for no limit. Default 10 GB. */
  retention?: { budgetBytes: number | null } | undefined
}

/**
 * The options with everything filled in.
 * @internal
 */
export interface Settings {
  name: string
  /** Absolute. */
  workspace: string
  /** The caller named a workspace. */
  workspaceNamed: boolean
  /** The path was written out. */
  explicit: boolean
  engine: 'auto' | 'docker' | 'local'
  image: string | undefined
  mode: 'interactive' | 'agent'
  escalationHandler: EscalationHandler | undefined
  escalation: { timeoutMs: number | null; onTimeout: EscalationResolution }
  autoCommit: boolean
  destroyOnExit: boolean
  scope: 'machine' | 'workspace' | undefined
  network: boolean
  env: Record<string, string>
  embed: boolean
  base: 'auto' | 'copy' | 'live'
  retention: { budgetBytes: number | null } | undefined
}

const engines = oneOf('auto', 'docker', 'local')

const checks = {
  name: text,
  containerName: text,
  workspace: text,
  engine: engines,
  image: text,
  mode: oneOf('interactive', 'agent'),
  escalationHandler: callback,
  escalation: objectOf({ timeoutMs: positiveOrNull, onTimeout: oneOf('continue', 'rollback', 'stop') }),
  autoCommit: flag,
  destroyOnExit: flag,
  saveProcesses: oneOf('auto', false),
  scope: oneOf('machine', 'workspace'),
  network: flag,
  env: variables,
  embed: flag,
  base: oneOf('auto', 'copy', 'live'),
  retention: objectOf({ budgetBytes: positiveOrNull }, 'budgetBytes'),
}

/**
 * @throws InvalidOptionError naming the option that is wrong, and what it takes
 * @internal
 */
export function settingsOf(options: SessionOptions, env: NodeJS.ProcessEnv = process.env): Settings {
  assertOptions('session()', options, checks)
  const engine = options.engine ?? (env.REWIND_ENGINE || 'auto')
  assertValue('REWIND_ENGINE', engine, engines)
  return {
    name: options.containerName ?? options.name ?? 'rewind_sandbox',
    ...workspaceOf(options.workspace),
    engine: engine as Settings['engine'],
    // What is set for docker is no wish for docker.
    image: options.image ?? (engine === 'docker' ? env.REWIND_IMAGE || undefined : undefined),
    mode: options.mode ?? 'interactive',
    escalationHandler: options.escalationHandler,
    escalation: {
      timeoutMs: options.escalation?.timeoutMs ?? null,
      onTimeout: options.escalation?.onTimeout ?? 'stop',
    },
    autoCommit: options.autoCommit ?? false,
    destroyOnExit: options.destroyOnExit ?? true,
    scope: options.scope,
    network: options.network ?? true,
    env: { ...options.env },
    embed: options.embed ?? false,
    base: options.base ?? 'auto',
    retention: options.retention,
  }
}

/**
 * @param given as the caller wrote it; '.' may be anywhere, a path that was written out was meant
 * @internal
 */
export function workspaceOf(given: string | undefined): Pick<Settings, 'workspace' | 'workspaceNamed' | 'explicit'> {
  if (given?.includes('\0'))
    throw new InvalidOptionError('workspace holds a zero byte.', { nextStep: 'Name a folder on the host.' })
  return {
    workspace: resolve(given ?? '.'),
    workspaceNamed: given !== undefined,
    explicit: given !== undefined && isAbsolute(given),
  }
}
