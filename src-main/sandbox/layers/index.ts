/**
 * Reading overlay layers from the host without mounting them, and opening files beneath a folder that somebody
 * else controls. See names.ts for how paths are written here.
 */
export type { Since } from './delta.ts'
export { dress } from './dress.ts'
export { asNoRoom } from './extract.ts'
export { compactBytes, layerBytes } from './layer-bytes.ts'
export type { LayerFolder } from './layer-dir.ts'
export { type ByteString, join, readableBytes, resolveInside, showPath, toByteString, toBytes } from './names.ts'
export { type OpenBeneathOptions, openBeneath } from './open-beneath.ts'
export { createLayerReader, type LayerReader } from './reader.ts'
export { statusTimes } from './status-times.ts'
export { createThreadedReader } from './threaded.ts'
export { readWhole } from './whole-file.ts'
