/**
 * Calls to code that runs elsewhere, in a thread or in a container: what is asked and answered, whatever carries it.
 * Calls are answered side by side, in no order.
 */
import { fromWire, InternalError, toWire, type WireError } from '../../contract/errors.ts'

export interface Request {
  id: number
  method: string
  args: unknown[]
}

export type Answer = { id: number; value: unknown } | { id: number; error: WireError }

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** The asking side. */
export class Calls {
  readonly #waiting = new Map<number, Waiting>()
  #next = 0

  /** True where nothing is waited for. */
  get idle(): boolean {
    return this.#waiting.size === 0
  }

  /**
   * @param send puts the request on its way
   * @throws what the method threw, as the class it was; what {@link fail} is given; what `send` throws
   */
  call<T>(method: string, args: unknown[], send: (request: Request) => void): Promise<T> {
    const id = this.#next++
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      try {
        send({ id, method, args })
      } catch (error) {
        this.#waiting.delete(id)
        reject(error)
      }
    })
  }

  take(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('error' in answer) waiting?.reject(fromWire(answer.error))
    else waiting?.resolve(answer.value)
  }

  /** Nobody answers any more. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** What they take is known to the caller's side alone. */
export type Methods = Record<string, (...args: never[]) => unknown>

/** The answering side. Never rejects. */
export async function carryOut(methods: Methods, { id, method, args }: Request): Promise<Answer> {
  try {
    const call = methods[method] as ((...args: unknown[]) => unknown) | undefined
    if (call === undefined) throw new InternalError(`There is no ${method} to call.`)
    return { id, value: await call(...args) }
  } catch (error) {
    return { id, error: toWire(error) }
  }
}
