/**
 * What a suite needs from the machine, and what becomes of it where that is missing.
 *
 * A suite that is skipped in silence looks like one that passed. So each skip is recorded with its reason and
 * its remedy, the runner (run.ts) prints them beside the result, and a part that was asked for by name
 * (REWIND_REQUIRE=local,browser) turns its absence into a failing test.
 */
import { appendFileSync } from 'node:fs'
import { describe, test } from 'vitest'
import { have, type Part, type ReportLine, requiredParts } from './parts.ts'

export { chromium, type Part } from './parts.ts'

/**
 * A `describe` that runs where all its parts are there. Elsewhere the body is not even collected: the suite holds
 * one skipped test that names the reason, or one failing test if REWIND_REQUIRE names a part that is missing.
 */
export function suiteNeeding(parts: readonly Part[], title: string, body: () => void): void {
  const required = requiredParts(process.env.REWIND_REQUIRE)
  const absent = parts.flatMap((part) => {
    const presence = have(part)
    return presence.ok ? [] : [{ part, ...presence }]
  })
  if (absent.length === 0) {
    report({ suite: title, ran: parts })
    describe(title, body)
    return
  }
  for (const { part, reason, remedy } of absent) report({ suite: title, missing: part, reason, remedy })
  const summary = absent.map(({ part, reason, remedy }) => `${part} (${reason}; ${remedy})`).join(', ')
  describe(title, () => {
    if (absent.some(({ part }) => required.includes(part))) {
      test('has what REWIND_REQUIRE promises', () => {
        throw new Error(`REWIND_REQUIRE names what is missing here: ${summary}`)
      })
    } else {
      test.skip(`needs ${summary}`, () => {})
    }
  })
}

function report(line: ReportLine): void {
  const file = process.env.REWIND_TEST_REPORT
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`)
}
