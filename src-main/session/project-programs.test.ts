import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { needsOf } from './project-programs.ts'

describe('what a project is worked on with', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rewind-project-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const put = (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  const programs = () => needsOf(folder, 'x64').programs.map(({ program, because }) => `${program}: ${because}`)
  const list = (packages: object) => put({ 'node_modules/.package-lock.json': JSON.stringify({ packages }) })

  test.each<[Record<string, string>, string[]]>([
    [{}, []],
    [{ 'package.json': '{}', 'pnpm-lock.yaml': '' }, ['node: package.json', 'pnpm: pnpm-lock.yaml']],
    [{ 'Cargo.toml': '', Makefile: '' }, ['cargo: Cargo.toml', 'make: Makefile']],
    [{ 'App.csproj': '', 'App.sln': '' }, ['dotnet: *.csproj']],
    [{ 'pom.xml': '' }, ['mvn: pom.xml']],
    [{ 'pom.xml': '', mvnw: '' }, ['java: pom.xml']],
    [{ 'build.gradle.kts': '' }, ['gradle: build.gradle.kts']],
    [{ 'build.gradle': '', gradlew: '' }, ['java: build.gradle']],
    [{ 'setup.py': '' }, ['python3: setup.py']],
    [{ 'pyproject.toml': '[tool.pytest.ini_options]\n' }, ['python3: pyproject.toml', 'pytest: pyproject.toml']],
    [{ 'requirements.txt': 'flask\n' }, ['python3: requirements.txt']],
    [{ 'requirements.txt': 'pytest==8\n', 'conftest.py': '' }, ['python3: requirements.txt', 'pytest: conftest.py']],
  ])('%j: %j', (files, wanted) => {
    put(files)
    expect(programs()).toEqual(wanted)
  })

  test('an environment of its own has its own Python', () => {
    put({ 'pyproject.toml': 'pytest', '.venv/pyvenv.cfg': 'home = /usr/bin\n', 'venv/other': '' })
    expect(needsOf(folder)).toMatchObject({ programs: [], venvs: ['.venv'] })
  })

  test('packages that were installed for another system are told from those for this one', () => {
    list({ a: {}, b: { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, c: { os: ['!win32'] } })
    expect(needsOf(folder, 'x64')).toMatchObject({ foreign: [], glibc: true })
    list({ a: { os: ['darwin'], cpu: ['arm64'] }, b: { os: ['darwin'] }, c: { os: ['linux'], cpu: ['arm64'] } })
    expect(needsOf(folder, 'x64')).toMatchObject({ foreign: ['darwin', 'arm64'], glibc: false })
    list({ a: { os: ['!linux'] } })
    expect(needsOf(folder, 'x64').foreign).toEqual(['all but linux'])
    // Words of whoever wrote the list do not become ours, nor many of them.
    list({ a: { os: ['x: run this'] }, b: { os: ['dar\u202ewin'] }, c: { os: ['x'.repeat(99)] }, d: { os: ['aix'] } })
    expect(needsOf(folder, 'x64').foreign).toEqual(['aix'])
    list(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [at, { os: [`x${at}`] }])))
    expect(needsOf(folder, 'x64').foreign).toHaveLength(5)
  })

  test('what is no list, or a folder where a file should be, stops nothing', () => {
    for (const text of ['', '{', 'null', '{"packages": 7}', '{"packages": {"a": null, "b": {"os": "linux"}}}']) {
      put({ 'node_modules/.package-lock.json': text, 'package.json': '' })
      expect(programs()).toEqual(['node: package.json'])
    }
    mkdirSync(join(folder, 'pyproject.toml'))
    expect(programs()).toContain('python3: pyproject.toml')
    execFileSync('mkfifo', [join(folder, 'requirements.txt')])
    rmSync(join(folder, 'node_modules/.package-lock.json'))
    symlinkSync('/dev/zero', join(folder, 'node_modules/.package-lock.json'))
    expect(needsOf(folder)).toMatchObject({ foreign: [] })
    expect(programs().join()).not.toContain('pytest')
    expect(needsOf(join(folder, 'gone')).programs).toEqual([])
  })
})
