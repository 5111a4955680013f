/**
 * host.lock: who holds it is the host. It is a SQLite file under BEGIN EXCLUSIVE, held for life, because the system
 * gives such a lock back the moment its process dies, however it dies, and a second opener hears of it at once.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { HostRunningError } from '../contract/errors.ts'
import { type HostFile, isAlive, readHostFile } from './host-file.ts'

export interface HostLock {
  release(): void
}

/** How long a loser waits for the winner to write its name into host.json. */
const NAME_WITHIN_MS = 1_000

/**
 * Takes the lock of a data folder.
 * @throws HostRunningError that names the owner, when another host holds it
 */
export async function acquireLock(home: string): Promise<HostLock> {
  const lock = tryLock(home)
  if (lock) return lock
  const owner = await ownerOf(home)
  const who = owner ? `process ${owner.pid} (${owner.kind}, version ${owner.version})` : 'a process that is starting'
  throw new HostRunningError(`Another host owns the data folder ${home}: ${who}.`, {
    nextStep: 'Use the one that runs (`rewind status`, `rewind open`), or set REWIND_HOME to another folder.',
    data: { pid: owner?.pid ?? null, home },
  })
}

/** @returns the lock, or null where another host holds it */
export function tryLock(home: string): HostLock | null {
  const database = new Database(join(home, 'host.lock'), { timeout: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) return null
    throw error
  }
  return { release: () => database.close() }
}

/** A winner that is starting writes host.json within moments; what a dead one left there names nobody. */
async function ownerOf(home: string): Promise<HostFile | null> {
  for (const until = Date.now() + NAME_WITHIN_MS; ; await sleep(20)) {
    const host = readHostFile(home)
    if (host && isAlive(host.pid)) return host
    if (Date.now() >= until) return null
  }
}
