/** What the runner says at the end: what was not run and why, what was promised and did not run, and the counts. */
import type { Part, ReportLine } from './parts.ts'

/** What came out of one vitest run. */
export interface Outcome {
  /** Which user ran it; empty for the first. */
  title: string
  /** Full names of the tests. */
  passed: string[]
  /** Tests, and files that could not even be collected; `why` as vitest has it. */
  failed: { test: string; why: string }[]
  /** Tests that did not run: of suites whose needs were not met, or by a condition of their own. */
  skipped: string[]
  exitCode: number
  report: ReportLine[]
}

/**
 * @param outcomes of the runs over the same suites, as different users: a suite counts as run when one of them ran it
 * @param required parts of which at least one suite must have run
 * @returns the lines to print, the counts last, and whether all is well
 */
export function summarise(outcomes: readonly Outcome[], required: readonly Part[]): { lines: string[]; ok: boolean } {
  const report = outcomes.flatMap((outcome) => outcome.report)
  const ran = report.filter((line) => 'ran' in line)
  const suitesThatRan = new Set(ran.map(({ suite }) => suite))
  // The last run knows best: as root, user namespaces are missing only because it is root.
  const lastWord = new Map(outcomes.flatMap(({ report }, run) => report.map(({ suite }) => [suite, run] as const)))
  const missed = outcomes
    .flatMap(({ report }, run) => report.filter(({ suite }) => lastWord.get(suite) === run))
    .filter((line) => 'missing' in line)
    .filter(({ suite }) => !suitesThatRan.has(suite))

  const notRun = [...Map.groupBy(missed, ({ missing }) => missing)].map(([part, lines]) => {
    const reasons = new Set(lines.map(({ reason, remedy }) => `${reason}; ${remedy}`))
    const suites = new Set(lines.map(({ suite }) => suite)).size
    return `${part} (${[...reasons].join(' / ')}; ${suites} ${suites === 1 ? 'suite' : 'suites'})`
  })
  const broken = required.filter((part) => !ran.some((line) => line.ran.includes(part)))

  const selfSkipped = ownConditions(outcomes)

  const passed = sum(outcomes, (outcome) => outcome.passed.length)
  const failed = sum(outcomes, failures) + broken.length
  return {
    lines: [
      // Again at the end: a log of an hour is often seen by its last lines alone.
      ...outcomes.flatMap(({ title, failed }) =>
        failed.map(({ test, why }) => `failed${title ? ` ${title}` : ''}: ${test}: ${briefly(why)}`),
      ),
      ...broken.map((part) => `REWIND_REQUIRE promises ${part}, but no suite that needs it ran`),
      ...(selfSkipped.length === 0 ? [] : [`not run, by a condition of their own: ${selfSkipped.join(', ')}`]),
      notRun.length === 0 ? 'not run: nothing, all suites ran' : `not run: ${notRun.join(', ')}`,
      `${passed} passed, ${failed} failed`,
    ],
    ok: failed === 0,
  }
}

/** Single tests that no run ran, without those that stand for a suite whose needs were not met. */
function ownConditions(outcomes: readonly Outcome[]): string[] {
  const passed = new Set(outcomes.flatMap((outcome) => outcome.passed))
  const skipped = new Set(outcomes.flatMap((outcome) => outcome.skipped))
  return [...skipped].filter((name) => !passed.has(name) && !/ needs \w+ \(/.test(name)).map((name) => `'${name}'`)
}

/** A run that ended badly without a failed test (an unhandled error, a killed worker) is a failure too. */
function failures({ failed, exitCode }: Outcome): number {
  return failed.length === 0 && exitCode !== 0 ? 1 : failed.length
}

/** Characters of the beginning and of the end of a long message. */
const SHOWN = 300

/** What was expected, without where. A long story is told first, and what came of it last. */
function briefly(why: string): string {
  const message = (why.split(/\n\s+at /)[0] ?? '').replace(/\s+/g, ' ').trim()
  return message.length <= 2 * SHOWN ? message : `${message.slice(0, SHOWN)} […] ${message.slice(-SHOWN)}`
}

function sum(outcomes: readonly Outcome[], count: (outcome: Outcome) => number): number {
  return outcomes.reduce((total, outcome) => total + count(outcome), 0)
}
