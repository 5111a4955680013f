/** The local engine, and what of it the engine in a container is made of. */
export { copyOutput } from './command.ts'
export { mountOf, readMounts } from './mountinfo.ts'
export { readProcess, signal } from './processes.ts'
export { createLocalProvider, type LocalProviderOptions, SANDBOX_ID } from './provider.ts'
export { planRoot, type RootPlan, RUN_FOLDER } from './root-plan.ts'
export type { LocalSandbox } from './sandbox.ts'
export type { Agent } from './state.ts'
export { checkedWorkspace } from './workspace.ts'
