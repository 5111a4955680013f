/** What lives in the sandbox has no events: it is asked for again and again while somebody looks. */
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Activity, RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { useHost } from '../host/context.ts'

const AGAIN_MS = 2_000

/** @param version asks at once when it changes */
export function useActivity(session: string, version: unknown) {
  const { rpc } = useHost()
  const [activity, setActivity] = useState<Activity | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const asked = useRef(0)
  const look = useCallback(async () => {
    const turn = ++asked.current
    try {
      const found = await rpc.processes.list({ session })
      if (turn !== asked.current) return
      setActivity(found)
      setProblem(null)
    } catch (error) {
      if (turn === asked.current) setProblem(fromRpcError(error))
    }
  }, [rpc, session])
  useEffect(() => {
    let stopped = false
    let timer: ReturnType<typeof setTimeout>
    const again = async () => {
      await look()
      if (!stopped) timer = setTimeout(again, AGAIN_MS)
    }
    void again()
    return () => {
      stopped = true
      asked.current++
      clearTimeout(timer)
    }
  }, [look, version])
  return { activity, problem, look }
}
