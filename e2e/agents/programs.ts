/** The agents' programs that tests drive: installed beside the product, by `npm ci --prefix e2e/agents`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const modules = join(import.meta.dirname, 'node_modules')

export const programs = {
  opencode: join(modules, 'opencode-linux-x64-baseline/bin/opencode'),
  codex: join(modules, '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex'),
  inspector: join(modules, '.bin/mcp-inspector'),
}

/** @returns names of those that are not installed */
export const absentPrograms = (): string[] =>
  Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : [name]))
