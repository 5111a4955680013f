/** Databases of a sandbox, compared table by table. */
export { askForTables } from './ask.ts'
export type { DatabaseFiles } from './compare.ts'
