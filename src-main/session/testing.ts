/** What the tests of sessions share: a data folder of their own, a workspace, and eyes for what stands in the sandbox. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandResult, Message } from '../contract/index.ts'
import { openStore } from '../store/index.ts'
import { openSessions, type Session, type SessionManager } from './index.ts'

export interface TestHome {
  folder: string
  home: string
  workspace: string
  /** Opens the data folder as a host would; close it before it is opened again. */
  open(): Promise<{ manager: SessionManager; close(): Promise<void> }>
  /** Destroys what is left and removes the folder. */
  remove(): Promise<void>
}

export function testHome(): TestHome {
  const folder = mkdtempSync(join(tmpdir(), 'rewind-session-'))
  chmodSync(folder, 0o755)
  const home = join(folder, 'home')
  const workspace = join(folder, 'project')
  mkdirSync(home, { mode: 0o700 })
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'kept.txt'), 'as it was\n')
  const open: TestHome['open'] = async () => {
    const store = openStore(join(home, 'store.db'))
    const manager = await openSessions({ home, store })
    return {
      manager,
      close: async () => {
        await manager.close()
        store.close()
      },
    }
  }
  return {
    folder,
    home,
    workspace,
    open,
    remove: async () => {
      const { manager, close } = await open()
      for (const { id, status } of manager.list()) if (status !== 'destroyed') await manager.find(id).destroy()
      await close()
      // A workspace may hold folders that are closed to their own user.
      if (process.getuid?.() !== 0) execFileSync('chmod', ['-R', 'u+rwX', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function begin(
  manager: SessionManager,
  workspace: string,
  name = 'test',
  network = true,
): Promise<Session> {
  const { session } = await manager.create({
    name,
    workspace,
    explicit: true,
    create: false,
    force: false,
    engine: 'auto',
    mode: 'interactive',
    base: 'auto',
    network,
    env: {},
  })
  return manager.find(session.id)
}

/** One of this machine that is free, and that no connection is given as its own in the meantime. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

let commands = 0

export async function run(
  session: Session,
  command: string,
  options: { tool?: string; guarded?: boolean; timeoutMs?: number } = {},
): Promise<CommandResult> {
  const id = `test-${process.pid}-${commands++}`
  await session.startCommand({
    id,
    command,
    cwd: null,
    env: {},
    stdin: null,
    timeoutMs: options.timeoutMs ?? null,
    asTool: false,
    tool: options.tool ?? null,
    guarded: options.guarded ?? false,
  })
  return session.waitCommand({ id })
}

export const write = (session: Session, path: string, content: string) =>
  session.write({ path, content, encoding: 'utf-8', tool: null })

export const checkpoint = (session: Session, label: string | null, messages: Message[] | null = null) =>
  session.checkpoint({ label, why: null, messages, takenBy: 'you' })

export const rollback = (session: Session, to: string, only: 'files' | 'messages' | null = null) =>
  session.rollback({ to, only, patchNotes: null })

/** Every file of the workspace with its text, as commands in the sandbox see it. */
export async function tree(session: Session): Promise<string> {
  const { stdout } = await run(session, 'find . -type f | sort | while read -r f; do echo "$f: $(cat "$f")"; done')
  return stdout
}

export const messagesOf = (session: Session): Message[] => session.conversation({ at: 'now' }).messages
