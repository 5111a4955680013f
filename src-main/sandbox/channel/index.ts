/** The control channel into a sandbox: a long-lived shell, and words for it. */
export { call, quote } from './quote.ts'
export { ControlShell, type ShellAnswer, ShellDied, spawnShut } from './shell.ts'
