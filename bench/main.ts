/** `npm run bench [-- window]`: what the engine's steps cost, or what the window costs. */
if (process.argv[2] === 'window') await import('./window.ts')
else await import('./run.ts')

export {}
