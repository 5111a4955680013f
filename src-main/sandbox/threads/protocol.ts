/** What passes between the host and one of its threads. */
import type { WireError } from '../../contract/errors.ts'

export interface Request {
  id: number
  method: string
  args: unknown[]
}

export type Answer = { id: number; value: unknown } | { id: number; error: WireError } | { notice: unknown }
