import { afterAll, beforeAll, describe } from 'vitest'
import { suiteNeeding } from '../../../e2e/needs.ts'
import { describeProvider } from '../conformance.ts'
import { localSource } from './for-tests.ts'
import { findPrograms } from './programs.ts'

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
      describeProvider('local', localSource)
    })
  }
})
