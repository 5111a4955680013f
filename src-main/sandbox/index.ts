/** Sandboxes: what the product needs of an engine, and the engines that there are. */
export { connectDocker, type DockerEngine } from './docker/connect.ts'
export { ensureImage, type ImageProgress, imageState, productImage } from './docker/images.ts'
export { createDockerProvider, type DockerProviderOptions } from './docker/provider.ts'
export { type HostCheck, HostFolders, type HostReport } from './host-folder/index.ts'
export { Gate } from './local/gate.ts'
export { createLocalProvider, type LocalProviderOptions } from './local/index.ts'
export { resourceFolder } from './resources.ts'
export type * from './sandbox.ts'
