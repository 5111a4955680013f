/** The local engine against the conformance suite, in the mode that this user has, with each shell that is here. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { describeProvider } from '../conformance.ts'
import { findPrograms } from './programs.ts'

const source = { module: join(import.meta.dirname, 'index.ts'), factory: 'createLocalProvider' }

const shells = (['busybox', 'sh'] as const).filter((name) => {
  const found = findPrograms(name)
  return name === 'sh' || ('shell' in found && found.shell.length === 2)
})

suiteNeeding(['local'], 'the local engine', () => {
  for (const shell of shells) {
    describe(`with ${shell} as control shell`, () => {
      const before = process.env.REWIND_CONTROL_SHELL
      beforeAll(() => {
        process.env.REWIND_CONTROL_SHELL = shell
      })
      afterAll(() => {
        if (before === undefined) delete process.env.REWIND_CONTROL_SHELL
        else process.env.REWIND_CONTROL_SHELL = before
      })
      describeProvider('local', source)
    })
  }
})
