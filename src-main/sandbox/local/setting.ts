/** What differs between an engine on the host itself and one within a container that shows the host's workspace. */
import type { EngineName } from '../../contract/index.ts'
import type { SandboxSpec } from '../sandbox.ts'
import { agentFor, homeOf } from './accounts.ts'
import { planRoot, type RootPlan } from './root-plan.ts'
import type { Agent } from './state.ts'
import { checkedWorkspace } from './workspace.ts'

export interface Setting {
  engine: EngineName
  /** How the engine runs here, for a person; null for what a trial of it says. */
  detail: string | null
  /** The workspace as a person knows it. @throws InvalidPathError where it cannot be one */
  workspace(spec: SandboxSpec): string
  /** The workspace as this process finds it. */
  source(spec: SandboxSpec): string
  /** The workspace as commands find it. */
  inside(spec: SandboxSpec): string
  /** Whom commands run as. @param source the workspace */
  agent(source: string): Agent
  /** A home of that user whose settings are of use inside; null where there is none. */
  home(agent: Agent): string | null
  plan(spec: SandboxSpec, agent: Agent): RootPlan
  /** What every command has of its environment. */
  environment: Readonly<Record<string, string>>
}

export const onTheHost = (): Setting => ({
  engine: 'local',
  detail: null,
  workspace: checkedWorkspace,
  source: ({ workspace }) => workspace,
  inside: ({ workspace }) => workspace,
  agent: agentFor,
  home: homeOf,
  plan: (spec, agent) => planRoot(spec, agent, homeOf(agent)),
  environment: Object.fromEntries(
    ['PATH', 'LANG'].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  ),
})
