/** The hunks of a file in the commit sheet: asked for once somebody looks at them, and chosen one by one. */
import { useEffect, useRef } from 'react'
import type { FileStretch, WholeReason } from '../../src-main/contract/index.ts'
import { useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'
import { chosenOf, mayHaveHunks, type Picked, type Picks, type Row, type Turned } from './choice.ts'
import { idsOf, mergedAtFirst } from './stretches.ts'

/** How rows and hunks are chosen otherwise than they are at first. */
export interface Choices {
  turned: Turned
  picks: Picks
  /** Has a row be whole otherwise than at first, or as it was. */
  turn(key: string, isTurned: boolean): void
  /** null: whole, or not at all. */
  pick(key: string, pick: Picked | null): void
}

/** Of what is to be merged before it is known what there is to merge. */
export const UNKNOWN: Picked = { take: new Set(), of: 0 }

interface RowHunks {
  /** null until they are there, and where there are none. */
  stretches: readonly FileStretch[] | null
  /** Why there are none. */
  whole: WholeReason | null
  isLoading: boolean
  pick: Picked | null
  take: ReadonlySet<string>
  choose(id: string, taken: boolean): void
}

/** The hunks of a row, once somebody looks at them. */
export function useHunks(row: Row, wanted: boolean, choices: Choices, version: number): RowHunks {
  const { rpc } = useHost()
  const session = useSession((state) => state.id)
  const may = mayHaveHunks(row)
  const asked = useAsked(wanted && may && session ? `${session} hunks ${row.key}` : null, version, (signal) =>
    rpc.commit.hunks({ session: session ?? '', ...row.path }, { signal }),
  )
  const found = wanted && may && asked.state === 'ready' ? asked.value : null
  const stretches = found?.kind === 'hunks' ? found.stretches : null
  const whole = found?.kind === 'whole' ? found.reason : null
  const pick = choices.picks.get(row.key) ?? null
  const settle = useRef(choices.pick)
  useEffect(() => {
    settle.current = choices.pick
  })
  useEffect(() => {
    if (pick === null) return
    // There is nothing to choose any more.
    if (whole !== null) settle.current(row.key, null)
    if (stretches === null) return
    const ids = idsOf(stretches)
    if (pick === UNKNOWN) settle.current(row.key, { take: mergedAtFirst(stretches), of: ids.length })
    // What was chosen was of other texts: of these nobody has chosen anything.
    else if (pick.of !== ids.length || [...pick.take].some((id) => !ids.includes(id)))
      settle.current(row.key, { take: new Set(), of: ids.length })
  }, [row.key, pick, stretches, whole])
  const ids = stretches ? idsOf(stretches) : []
  const isAll = pick === null && chosenOf(row, choices.turned) === 'all'
  const take = pick ? pick.take : new Set(isAll ? ids : [])
  return {
    stretches,
    whole,
    isLoading: wanted && may && asked.state === 'loading',
    pick: pick === UNKNOWN ? null : pick,
    take,
    choose: (id, taken) => {
      const next = new Set(take)
      if (taken) next.add(id)
      else next.delete(id)
      choices.pick(row.key, { take: next, of: ids.length })
    },
  }
}
