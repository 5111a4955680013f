/** The docker engine against the conformance suite, in both scopes. */
import { describe } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { describeProvider } from '../conformance.ts'
import { dockerSource } from './for-tests.ts'

suiteNeeding(['docker'], 'the docker engine', () => {
  for (const scope of ['machine', 'workspace'] as const) {
    describe(`scope ${scope}`, () => describeProvider('docker', dockerSource(scope)))
  }
})
