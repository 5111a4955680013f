/** Our errors in oRPC's clothes: the server throws what {@link toRpcError} makes, the client reads it back as the class. */
import { ORPCError } from '@orpc/client'
import { fromWire, isErrorCode, RewindError, toWire, type WireError } from './errors.ts'

/** HTTP-like status per family, for oRPC's own bookkeeping; clients look at the code alone. */
const statusOf = (exitCode: number): number => (exitCode === 70 ? 500 : exitCode === 2 || exitCode === 3 ? 404 : 422)

/** @returns an ORPCError that carries code, message, next step and data; ORPCErrors pass through. */
export function toRpcError(error: unknown): ORPCError<string, unknown> {
  if (error instanceof ORPCError) return error
  const wire = toWire(error)
  return new ORPCError(wire.code, {
    status: statusOf(error instanceof RewindError ? error.exitCode : 70),
    message: wire.message,
    data: { nextStep: wire.nextStep, data: wire.data, ...(wire.cause ? { cause: wire.cause } : {}) },
  })
}

/** @returns the class that was thrown in the host; InvalidOptionError for input that the contract refused. */
export function fromRpcError(error: unknown): RewindError {
  if (error instanceof RewindError) return error
  if (error instanceof ORPCError) {
    if (isErrorCode(error.code)) {
      const { nextStep = null, data = {}, cause } = (error.data ?? {}) as Partial<WireError>
      return fromWire({ code: error.code, message: error.message, nextStep, data, ...(cause ? { cause } : {}) })
    }
    if (error.code === 'BAD_REQUEST')
      return fromWire({ code: 'INVALID_OPTION', message: describeIssues(error), nextStep: null, data: {} })
  }
  return fromWire(toWire(error))
}

/** Whether the host itself said this, as opposed to a line that broke on the way. */
export const isFromHost = (error: unknown): boolean => error instanceof RewindError || error instanceof ORPCError

function describeIssues(error: ORPCError<string, unknown>): string {
  const issues = (error.data as { issues?: { message: string; path?: unknown[] }[] } | undefined)?.issues
  if (!issues?.length) return error.message
  return issues.map((issue) => `${issue.path?.length ? `${issue.path.join('.')}: ` : ''}${issue.message}`).join('; ')
}

/**
 * For every end of a line: objects with a field `__proto__` (an agent's message may hold one) go as JSON text, since oRPC
 * copies objects field by field, and that one would be lost.
 */
export const jsonSerializers = [
  {
    type: 40,
    condition: (value: unknown): boolean =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__'),
    serialize: (value: unknown): string => JSON.stringify(value),
    deserialize: (text: string): unknown => JSON.parse(text),
  },
]
