/** What becomes of the host's folders while sessions stand on them. */
export { unsuitedFileSystem } from './file-systems.ts'
export { HostFolders } from './host-folders.ts'
export type { HostCheck, HostComparison, HostReport, Written } from './tracked-folder.ts'
