/** What a thread of the host says: answers, and what nobody asked for. */
import type { Answer } from '../calls/index.ts'

export type Said = Answer | { notice: unknown }
