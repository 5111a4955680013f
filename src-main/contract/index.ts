/** The contract between the host and everything that talks to it. Imports nothing of ours; everybody may import it. */
export * from './api.ts'
export * from './errors.ts'
export * from './events.ts'
export * from './host-words.ts'
export * from './model.ts'
export * from './text.ts'
export * from './timeline.ts'
export * from './wire.ts'
