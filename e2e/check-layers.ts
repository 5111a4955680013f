/**
 * The gate of the layer rules (`npm run layers`).
 *
 * A dependency check that cannot read TypeScript cruises nothing and is green. So the files it saw are compared with
 * the files that are there: a rule counts only for what was looked at.
 */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'

/** A broken rule, or a file that no rule was applied to. */
export interface LayerFault {
  rule: string
  from: string
  to: string
}

const FOLDERS = ['src-main', 'src-renderer', 'e2e', 'bench']

/**
 * Applies `.dependency-cruiser.mjs` to a tree.
 * @param root folder that holds src-main and tsconfig.json; must be the process's working folder
 * @returns the number of our files that were looked at, and every fault
 */
export async function checkLayers(root: string): Promise<{ modules: number; faults: LayerFault[] }> {
  const sources = globSync('{src-main,src-renderer,e2e,bench}/**/*.{ts,tsx}', {
    cwd: root,
    // The agents that tests drive are installed among them.
    exclude: ['**/node_modules/**'],
  })
  const folders = FOLDERS.filter((folder) => sources.some((file) => file.startsWith(`${folder}/`)))
  const options = await extractDepcruiseOptions(join(root, '.dependency-cruiser.mjs'))
  const { output } = await cruise(folders, options, undefined, {
    tsConfig: extractTSConfig(join(root, 'tsconfig.json')),
  })
  if (typeof output === 'string') throw new Error('dependency-cruiser answered with text instead of a result')
  const seen = new Set(output.modules.map((module) => module.source))
  const notSeen = sources.filter((file) => !seen.has(file))
  return {
    modules: sources.length - notSeen.length,
    faults: [...violations(output), ...notSeen.map(unseen)],
  }
}

function violations({ summary }: ICruiseResult): LayerFault[] {
  return summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }))
}

const unseen = (file: string): LayerFault => ({ rule: 'every-file-is-looked-at', from: file, to: '(not cruised)' })

if (import.meta.main) {
  const { modules, faults } = await checkLayers(process.cwd())
  for (const { rule, from, to } of faults) console.error(`${rule}: ${from} -> ${to}`)
  console.log(`layers: ${modules} files looked at, ${faults.length} faults`)
  if (faults.length > 0 || modules === 0) process.exitCode = 1
}
