/** What lives in the sandbox has no events: it is asked for again and again while somebody looks. */
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Activity, OpenedPort, RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { useHost } from '../host/context.ts'

const AGAIN_MS = 2_000

/**
 * @param version asks at once when it changes
 * @returns open: ports that are open to this machine while the sandbox cannot be asked what runs; null where it can
 */
export function useActivity(session: string, version: unknown) {
  const { rpc } = useHost()
  const [activity, setActivity] = useState<Activity | null>(null)
  const [open, setOpen] = useState<OpenedPort[] | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const asked = useRef(0)
  const look = useCallback(async () => {
    const turn = ++asked.current
    try {
      const found = await rpc.processes.list({ session })
      if (turn !== asked.current) return
      setActivity(found)
      setOpen(null)
      setProblem(null)
    } catch (error) {
      // Where nobody answers, what was seen last stays.
      const still = await rpc.ports.list({ session }).catch(() => null)
      if (turn !== asked.current) return
      setOpen(still)
      setProblem(fromRpcError(error))
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
  return { activity, open, problem, look }
}
