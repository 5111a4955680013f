/** Loaded before the app: `electron` is the stand-in from here on. */
import { registerHooks } from 'node:module'

const standin = new URL('./electron.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'electron' || specifier.startsWith('electron/')) return { url: standin, shortCircuit: true }
    return next(specifier, context)
  },
})
