/** Shells that are opened in a window. */
import { SHELL_COMMAND } from '../../src-main/contract/index.ts'
import type { Rpc } from '../host/link.ts'

const PREFIX = 'window-'
/** Until it is in its place, and as large as that. */
const FIRST_SIZE = { columns: 80, rows: 24 }

/** Whether a command was started in a window: there its terminal takes its size from, and is answered. */
export const isOurs = (id: string): boolean => id.startsWith(PREFIX)

/** Starts the best shell that is there. @returns the command's id */
export async function openShell(rpc: Pick<Rpc, 'commands'>, session: string): Promise<string> {
  const id = `${PREFIX}${crypto.randomUUID()}`
  await rpc.commands.start({
    session,
    id,
    command: SHELL_COMMAND,
    env: { TERM: 'xterm-256color', COLORTERM: 'truecolor' },
    terminal: FIRST_SIZE,
  })
  return id
}
