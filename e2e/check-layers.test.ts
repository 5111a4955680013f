/** The gate itself: it must go red for each rule, and when it looked at nothing. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const repository = join(import.meta.dirname, '..')

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'layers-'))
  for (const file of ['.dependency-cruiser.mjs', 'tsconfig.json'])
    copyFileSync(join(repository, file), join(root, file))
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'))
  write('src-main/store/index.ts', 'export const store = 1\n')
  write('src-main/store/inner.ts', 'export const inner = 1\n')
  write('src-main/contract/index.ts', 'export const contract = 1\n')
  write('src-main/session/index.ts', "export { store } from '../store/index.ts'\n")
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

function gate(): { code: number; text: string } {
  try {
    const gate = join(repository, 'e2e/check-layers.ts')
    return { code: 0, text: execFileSync(process.execPath, [gate], { cwd: root, encoding: 'utf8', stdio: 'pipe' }) }
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: string }
    return { code: status, text: stderr }
  }
}

describe('the layer gate', () => {
  test('passes a tree that keeps the rules, and says how much it saw', () => {
    expect(gate()).toEqual({ code: 0, text: 'layers: 4 files looked at, 0 faults\n' })
  })

  test.each([
    ['store-imports-from-below', 'src-main/store/up.ts', "export { store } from '../session/index.ts'"],
    ['through-the-index', 'src-main/session/deep.ts', "export { inner } from '../store/inner.ts'"],
    ['through-the-index-from-outside', 'e2e/deep.ts', "export { inner } from '../src-main/store/inner.ts'"],
    ['contract-stands-alone', 'src-main/contract/down.ts', "export { store } from '../store/index.ts'"],
    ['renderer-knows-the-contract-only', 'src-renderer/a.ts', "export { store } from '../src-main/store/index.ts'"],
    ['command-line-starts-light', 'src-main/cli/a.ts', "export { contract } from '../contract/index.ts'"],
    ['renderer-without-node', 'src-renderer/a.ts', "export { readFileSync } from 'node:fs'"],
    ['electron-in-shell-only', 'src-main/session/a.ts', "export { app } from 'electron'"],
    ['product-without-test-code', 'src-main/session/a.ts', "export { have } from '../../e2e/needs.ts'"],
    ['no-cycles', 'src-main/store/inner.ts', "export { inner as outer } from './inner.ts'"],
    ['resolvable', 'src-main/store/a.ts', "export { nothing } from './nowhere.ts'"],
  ])('%s', (rule, file, text) => {
    write('e2e/needs.ts', 'export const have = 1\n')
    write(file, `${text}\n`)
    const { code, text: faults } = gate()
    expect(code).toBe(1)
    expect(faults).toContain(`${rule}: ${file} -> `)
  })

  test('allows the shell what it is for', () => {
    write('src-main/shell/main.ts', "export { app } from 'electron'\nexport { store } from '../store/index.ts'\n")
    expect(gate().code).toBe(0)
  })

  test('is red when it looked at nothing', () => {
    write('.dependency-cruiser.mjs', "export default { forbidden: [], options: { exclude: 'src-main' } }\n")
    const { code, text } = gate()
    expect(code).toBe(1)
    expect(text).toContain('every-file-is-looked-at: src-main/store/index.ts')
  })
})
