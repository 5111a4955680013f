/** Sandboxes: what the product needs of an engine, and the engines that there are. */
export { type HostCheck, HostFolders, type HostReport } from './host-folder/index.ts'
export { Gate } from './local/gate.ts'
export { createLocalProvider, type LocalProviderOptions } from './local/index.ts'
export type * from './sandbox.ts'
