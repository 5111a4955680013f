/** How the ledger is looked at: it outlives the pane, so that another tab and back changes nothing. */
import { createStore, type StoreApi } from 'zustand/vanilla'
import { type LedgerFilters, NO_FILTERS } from './filter.ts'

export interface LedgerView {
  filters: LedgerFilters
  /** The row that the keys are on. */
  active: number | null
  /** Whether its detail is shown. */
  open: boolean
}

export interface LedgerViewStore extends StoreApi<LedgerView> {
  filter(patch: Partial<LedgerFilters>): void
  clear(): void
  /** Puts the keys on a row. */
  at(id: number): void
  open(on: boolean): void
  /** Opens a row's detail; the one that is open closes. */
  toggle(row: { id: number }): void
  /** Another session: nothing of this one's view applies. */
  reset(): void
}

const fresh: LedgerView = { filters: NO_FILTERS, active: null, open: false }

export function createLedgerViewStore(): LedgerViewStore {
  const store = createStore<LedgerView>(() => fresh)
  return {
    ...store,
    filter: (patch) => store.setState(({ filters }) => ({ filters: { ...filters, ...patch } })),
    clear: () => store.setState({ filters: NO_FILTERS }),
    at: (active) => store.setState({ active }),
    open: (open) => store.setState({ open }),
    toggle: ({ id }) => store.setState(({ active, open }) => ({ active: id, open: !(open && active === id) })),
    reset: () => store.setState(fresh),
  }
}
