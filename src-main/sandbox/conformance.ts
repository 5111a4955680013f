/**
 * What every engine does, as one suite. Titles name the behaviour, so that a report of what passes reads as a
 * description of the engine.
 */
import { describe } from 'vitest'
import { activityBehaviours } from './conformance/activity.ts'
import { attackBehaviours } from './conformance/attacks.ts'
import { commandBehaviours } from './conformance/commands.ts'
import { fileBehaviours } from './conformance/files.ts'
import { isolationBehaviours } from './conformance/isolation.ts'
import { meetingBehaviours } from './conformance/meetings.ts'
import { pauseBehaviours } from './conformance/pauses.ts'
import { portBehaviours } from './conformance/ports.ts'
import { stateBehaviours } from './conformance/states.ts'
import { survivalBehaviours } from './conformance/survival.ts'
import { terminalBehaviours } from './conformance/terminals.ts'
import type { ProviderSource } from './conformance/world.ts'

/**
 * @param name of the engine, for the report
 * @param source the module that makes providers: given by name, as some tests load it in another process
 */
export function describeProvider(name: string, source: ProviderSource): void {
  describe(`${name}: commands`, () => commandBehaviours(source))
  describe(`${name}: files`, () => fileBehaviours(source))
  describe(`${name}: states`, () => stateBehaviours(source))
  describe(`${name}: meetings`, () => meetingBehaviours(source))
  describe(`${name}: isolation`, () => isolationBehaviours(source))
  describe(`${name}: terminals`, () => terminalBehaviours(source))
  describe(`${name}: attacks`, () => attackBehaviours(source))
  describe(`${name}: pauses`, () => pauseBehaviours(source))
  describe(`${name}: activity`, () => activityBehaviours(source))
  describe(`${name}: ports`, () => portBehaviours(source))
  describe(`${name}: survival`, () => survivalBehaviours(source))
}
