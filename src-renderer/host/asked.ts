/**
 * A question to the host whose answer a component shows. While a newer answer to the same question is on its way the
 * old one stays; for another question there is nothing to show until it comes, so no pane shows another's moment.
 */
import { useEffect, useRef, useState } from 'react'
import type { RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { useConnection } from './context.ts'
import { createPacer } from './pacer.ts'

export type Asked<T> =
  | { state: 'loading' }
  | { state: 'failed'; problem: RewindError; again(): void }
  | { state: 'ready'; value: T }

/**
 * @param question names what is asked; null asks nothing
 * @param version raised when the answer may have changed: asked again, one question at a time
 */
export function useAsked<T>(
  question: string | null,
  version: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Asked<T> {
  const line = useConnection((connection) => connection.line)
  const [tries, setTries] = useState(0)
  const [answer, setAnswer] = useState<{ question: string; asked: Asked<T> } | null>(null)
  const latest = useRef(ask)
  const pacer = useRef<{ question: string; again(): void } | null>(null)

  useEffect(() => {
    latest.current = ask
  })

  useEffect(() => {
    if (question === null) return
    const abort = new AbortController()
    const settle = (asked: Asked<T>) => {
      if (!abort.signal.aborted) setAnswer({ question, asked })
    }
    const again = createPacer(async () => {
      if (abort.signal.aborted) return
      await latest.current(abort.signal).then(
        (value) => settle({ state: 'ready', value }),
        (error) => settle({ state: 'failed', problem: fromRpcError(error), again: () => setTries((n) => n + 1) }),
      )
    })
    pacer.current = { question, again }
    return () => abort.abort()
  }, [question])

  // Each of the last three asks again.
  useEffect(() => {
    if (pacer.current?.question === question) pacer.current.again()
  }, [question, version, line, tries])

  return answer && answer.question === question ? answer.asked : { state: 'loading' }
}
