/** The local engine. */
export { createLocalProvider, type LocalProviderOptions } from './provider.ts'
