/** One commit at a time per folder of the host, whichever session it comes from. */
import { lstatSync } from 'node:fs'
import { Gate } from '../sandbox/index.ts'

const gates = new Map<string, Gate>()

/** @throws the system's ENOENT and the like where the folder is not there */
export function workspaceGate(workspace: string): Gate {
  const { dev, ino } = lstatSync(workspace, { bigint: true })
  const key = `${dev}:${ino}`
  const gate = gates.get(key) ?? new Gate()
  gates.set(key, gate)
  return gate
}
