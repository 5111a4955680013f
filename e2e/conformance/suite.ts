/** The official conformance suite, run as its users run it, and what it found. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../host.ts'

interface Check {
  id: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  errorMessage?: string
}

export interface Scenario {
  name: string
  passed: number
  /** What failed, and why. */
  failures: string[]
}

/** Runs the suite on a server. @param args which scenarios, as the suite's own options */
export async function runSuite(url: string, args: string[]): Promise<Scenario[]> {
  const folder = mkdtempSync(join(tmpdir(), 'rewind-conformance-'))
  try {
    const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
    const output = await new Promise<string>((resolve) => {
      // Its exit code counts scenarios that are not looked at here, too: what it found is in its files.
      execFile(process.execPath, [suite, 'server', '--url', url, '-o', folder, ...args], (_error, stdout, stderr) =>
        resolve(stdout + stderr),
      )
    })
    const scenarios = readdirSync(folder).flatMap((name) => readScenario(folder, name))
    if (scenarios.length === 0) throw new Error(`the suite ran nothing:\n${output}`)
    return scenarios
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function readScenario(folder: string, name: string): Scenario[] {
  const file = join(folder, name, 'checks.json')
  if (!existsSync(file)) return []
  const checks = JSON.parse(readFileSync(file, 'utf8')) as Check[]
  const failures = checks.filter(({ status }) => status === 'FAILURE')
  return [
    {
      name: name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, ''),
      passed: checks.filter(({ status }) => status === 'SUCCESS').length,
      failures: failures.map(({ id, errorMessage }) => `${id}: ${errorMessage ?? ''}`),
    },
  ]
}
