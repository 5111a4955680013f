/** Whether each row's hash still follows from the one before it, and what it means where not. */
import { Link2, Link2Off } from 'lucide-react'
import type { LedgerCheck } from '../../src-main/contract/index.ts'
import { Button } from '../elements/button.tsx'
import { type Asked, useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'

/** Recomputed by the host whenever a row was added. */
export function useChain(): Asked<LedgerCheck> {
  const { rpc } = useHost()
  const session = useSession((state) => state.id)
  const rows = useSession((state) => state.ledger.length)
  return useAsked(session && `chain ${session}`, rows, (signal) =>
    rpc.ledger.verify({ session: session ?? '' }, { signal }),
  )
}

export function ChainState({ chain }: { chain: Asked<LedgerCheck> }) {
  if (chain.state === 'failed') return <span className="shrink-0 text-warn">chain not checked</span>
  if (chain.state === 'loading') return null
  return chain.value.whole ? (
    <span className="flex shrink-0 items-center gap-1 text-ok" title={`Head of the chain: ${chain.value.head}`}>
      <Link2 size={13} aria-hidden="true" />
      chain whole
    </span>
  ) : (
    <span className="flex shrink-0 items-center gap-1 text-bad">
      <Link2Off size={13} aria-hidden="true" />
      chain broken
    </span>
  )
}

const ANCHORS = {
  agrees: 'The note of its end that is kept outside the store agrees with what is there.',
  missing: 'No note of its end was kept outside the store.',
  differs: 'The note of its end that is kept outside the store says otherwise.',
} as const

/** @param show puts the keys on the row; null where it is not among those that are there */
export function ChainBroken({ chain, show }: { chain: LedgerCheck; show: (() => void) | null }) {
  if (chain.whole) return null
  const { brokenAt, rows } = chain
  const before = brokenAt === null || brokenAt <= 1 ? '' : ` Rows before it are as they were written.`
  return (
    <div
      role="alert"
      className="flex shrink-0 items-center gap-3 border-b border-line bg-bad-soft px-4 py-1.5 text-small"
    >
      <Link2Off size={14} className="shrink-0 text-bad" aria-hidden="true" />
      <p className="min-w-0 flex-1">
        {brokenAt === null || brokenAt > rows
          ? `Rows are missing at the end: ${rows} are left.`
          : `Row ${brokenAt} is missing or is not what was written.${before}`}{' '}
        {ANCHORS[chain.anchor]}
      </p>
      {show ? <Button onClick={show}>{`Show row ${brokenAt}`}</Button> : null}
    </div>
  )
}
