/** Finding or making the session that is to be worked with. */
import { realpathSync } from 'node:fs'
import { InvalidOptionError, SandboxNotFoundError } from '../contract/errors.ts'
import type { SessionSummary } from '../contract/index.ts'
import { isLive } from '../contract/timeline.ts'
import type { Rpc } from '../serve/client/index.ts'
import type { Notices } from './notices.ts'
import type { Settings } from './options.ts'

export interface Begun {
  session: SessionSummary
  /** A live session of that name and workspace was taken instead of a new one. */
  attached: boolean
}

/** @param force begin anew where a live session of that name and workspace exists */
export async function begin(rpc: Rpc, settings: Settings, force: boolean, notices: Notices): Promise<Begun> {
  const { name, workspace, explicit, engine, image, scope, mode, base, network, env, retention, escalation } = settings
  if (engine === 'docker' || (engine === 'auto' && image !== undefined)) await imageReady(rpc, image, notices)
  const { session, attached, created } = await rpc.sessions.create({
    name,
    workspace,
    explicit,
    create: true,
    force,
    engine,
    image,
    scope,
    mode,
    base,
    network,
    env,
    retention,
    escalation,
  })
  if (created) notices.warn('REWIND_WORKSPACE_MADE', `There was no folder ${session.workspace}; it was made.`)
  return { session, attached }
}

/** @throws SandboxNotFoundError where no session of that name lives, InvalidOptionError where it has another workspace */
export async function find(rpc: Rpc, { name, workspace, workspaceNamed }: Settings): Promise<SessionSummary> {
  const session = await rpc.sessions.get({ session: name })
  if (!isLive(session))
    throw new SandboxNotFoundError(`Session ${name} has ${session.status === 'ended' ? 'ended' : 'been destroyed'}.`, {
      nextStep: 'Begin a new one with start(), or read its ledger by `rewind ledger`.',
    })
  if (workspaceNamed && realPath(workspace) !== session.workspace)
    throw new InvalidOptionError(`Session ${name} belongs to another workspace, ${session.workspace}.`, {
      nextStep: 'Leave workspace out, or name another session.',
    })
  return session
}

/** It is not taken up by a later host: there it would begin anew. */
async function imageReady(rpc: Rpc, name: string | undefined, notices: Notices): Promise<void> {
  for await (const progress of await rpc.engines.image({ name: name ?? null }, { context: { retry: 0 } }))
    notices.tell('progress', progress)
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
