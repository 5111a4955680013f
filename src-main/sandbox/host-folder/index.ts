/** What becomes of the host's folders while sessions stand on them. */
export { unsuitedFileSystem } from './file-systems.ts'
export { HostFolders } from './host-folders.ts'
export type { HostCheck, HostComparison, HostReport } from './tracked-folder.ts'
