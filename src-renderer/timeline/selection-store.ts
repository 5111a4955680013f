/**
 * The one moment that every pane shows. Looking is free: nothing here ever reaches the sandbox.
 */
import { createStore, type StoreApi } from 'zustand/vanilla'

/** `now`, or the id of a point. */
export type Moment = string
export const NOW: Moment = 'now'

export type PaneTab = 'changes' | 'messages' | 'output' | 'agent' | 'ledger' | 'processes'

export interface Selection {
  moment: Moment
  /** The other end of a range; null for a single moment. */
  other: Moment | null
  /** For one point: against its parent, or up to now. */
  against: 'parent' | 'now'
  tab: PaneTab
  /** The shell that was opened last; it is shown when it is there. */
  shell: string | null
}

/** What of the selection says which moment is looked at, and how. */
export type Looking = Pick<Selection, 'moment' | 'other' | 'against'>

export interface SelectionStore extends StoreApi<Selection> {
  select(moment: Moment): void
  /** Put the other end of the range here; on the moment itself the range is taken back. */
  extend(moment: Moment): void
  /** What changed in the step that leads to a moment. */
  changesOf(moment: Moment): void
  toNow(): void
  /** Back to now where a selected point is not among those that there are: it was pruned. */
  amongst(points: readonly { id: string }[]): void
  against(against: Selection['against']): void
  tab(tab: PaneTab): void
  /** A shell was opened at the moment that stands now. */
  opened(shell: string): void
}

export const atNow = ({ moment, other }: Pick<Selection, 'moment' | 'other'>): boolean =>
  moment === NOW && other === null

/** What `extend` does: the first moment stays, the second one moves. */
export const extended = <S extends Looking>(selection: S, moment: Moment): S => ({
  ...selection,
  other: moment === selection.moment ? null : moment,
})

export function createSelectionStore(): SelectionStore {
  const store = createStore<Selection>(() => ({
    moment: NOW,
    other: null,
    against: 'parent',
    tab: 'changes',
    shell: null,
  }))
  return {
    ...store,
    select: (moment) => store.setState({ moment, other: null }),
    extend: (moment) => store.setState((now) => extended(now, moment)),
    changesOf: (moment) => store.setState({ moment, other: null, against: 'parent', tab: 'changes' }),
    toNow: () => store.setState({ moment: NOW, other: null }),
    amongst(points) {
      const { moment, other } = store.getState()
      const gone = (id: Moment | null) => id !== null && id !== NOW && !points.some((point) => point.id === id)
      if (gone(moment) || gone(other)) store.setState({ moment: NOW, other: null })
    },
    against: (against) => store.setState({ against }),
    tab: (tab) => store.setState({ tab }),
    opened: (shell) => store.setState({ moment: NOW, other: null, tab: 'output', shell }),
  }
}
