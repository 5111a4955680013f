/** How a change is written in lists: one letter by its path. */
import type { ChangeStatus } from '../contract/index.ts'

const letters: Readonly<Record<ChangeStatus, string>> = {
  added: 'A',
  modified: 'M',
  deleted: 'D',
  type: 'T',
  mode: 'P',
}

export const letterOf = (status: ChangeStatus): string => letters[status]
