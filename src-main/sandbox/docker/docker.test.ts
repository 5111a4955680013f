/** The docker engine against the conformance suite, in both scopes. */
import { describe, vi } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { describeProvider } from '../conformance.ts'
import { dockerSource } from './for-tests.ts'

// A container is started in a second, on a loaded machine in ten.
vi.setConfig({ testTimeout: 300_000 })

suiteNeeding(['docker'], 'the docker engine', () => {
  for (const scope of ['machine', 'workspace'] as const) {
    describe(`scope ${scope}`, () => describeProvider('docker', dockerSource(scope)))
  }
})
