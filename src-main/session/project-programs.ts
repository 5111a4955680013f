/**
 * What a project is worked on with, told by the files at its top: an agent that finds no pytest or cargo in its sandbox
 * tries for long before it says so. Looked for once, when a session begins.
 */
import { closeSync, constants, existsSync, fstatSync, opendirSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'

/** A program that the project wants, and the file that says so. */
export interface Wanted {
  program: string
  because: string
}

/** What is looked for inside. */
export interface ProjectNeeds {
  programs: Wanted[]
  /** Folders that hold a Python of their own, by name. */
  venvs: string[]
  /** Names of other systems than the sandbox's that packages of Node were installed for, such as darwin; some of them. */
  foreign: string[]
  /** Whether packages of Node that need glibc are installed. */
  glibc: boolean
}

/** A file whose name says it all. */
const BY_NAME: readonly [name: string, ...programs: string[]][] = [
  ['package.json', 'node'],
  ['deno.json', 'deno'],
  ['deno.jsonc', 'deno'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
  ['uv.lock', 'uv'],
  ['poetry.lock', 'poetry'],
  ['Pipfile', 'pipenv'],
  ['tox.ini', 'tox'],
  ['Cargo.toml', 'cargo'],
  ['go.mod', 'go'],
  ['Gemfile', 'ruby', 'bundle'],
  ['composer.json', 'php', 'composer'],
  ['Makefile', 'make'],
  ['makefile', 'make'],
  ['GNUmakefile', 'make'],
  ['justfile', 'just'],
  ['Taskfile.yml', 'task'],
  ['CMakeLists.txt', 'cmake'],
  ['meson.build', 'meson'],
  ['build.zig', 'zig'],
  ['mix.exs', 'mix'],
  ['pubspec.yaml', 'dart'],
  ['Package.swift', 'swift'],
  ['stack.yaml', 'stack'],
  ['build.sbt', 'sbt'],
  ['.git', 'git'],
]

const BY_ENDING: readonly [ending: string, program: string][] = [
  ['.csproj', 'dotnet'],
  ['.sln', 'dotnet'],
  ['.cabal', 'cabal'],
]

const PYTHON = ['pyproject.toml', 'requirements.txt', 'setup.py', 'setup.cfg']
/** Where projects say that they are tested with pytest. */
const PYTEST = ['pytest.ini', 'conftest.py']
const VENVS = ['.venv', 'venv']

/** Names that are looked through for an ending. */
const LISTED = 2_000
/** Files that are read are shorter than this, bytes; of longer ones the beginning counts. */
const READ_BYTES = 256 << 10
/** Systems that are named. */
const NAMED = 5
/** npm's own list of what it installed; reading a longer one would hold the host up. Bytes. */
const LONGEST_LIST = 512 << 10

/**
 * @param workspace the folder on the host
 * @param arch of the sandbox, as Node names it
 * @returns nothing to look for where the folder cannot be read
 */
export function needsOf(workspace: string, arch: string = process.arch): ProjectNeeds {
  const has = (name: string) => existsSync(join(workspace, name))
  const venvs = VENVS.filter((name) => has(join(name, 'pyvenv.cfg')))
  const programs = new Map<string, string>()
  const want = (program: string, because: string | undefined) => {
    if (because !== undefined && !programs.has(program)) programs.set(program, because)
  }
  for (const [name, ...wanted] of BY_NAME) if (has(name)) for (const program of wanted) want(program, name)
  const some = firstNames(workspace)
  // By its ending: what stands before that is anybody's text.
  for (const [ending, program] of BY_ENDING)
    want(program, some.some((name) => name.endsWith(ending)) ? `*${ending}` : undefined)
  // Its own wrapper brings the builder along, and needs Java alone.
  want(has('mvnw') ? 'java' : 'mvn', ['pom.xml'].find(has))
  want(has('gradlew') ? 'java' : 'gradle', ['build.gradle', 'build.gradle.kts'].find(has))
  // An environment of the project's own has its own Python, and its own pytest.
  if (venvs.length === 0) {
    const saysPytest = (name: string) => /\bpytest\b/.test(beginningOf(join(workspace, name), READ_BYTES)?.text ?? '')
    want('python3', PYTHON.find(has))
    want('pytest', PYTEST.find(has) ?? PYTHON.find(saysPytest))
  }
  return {
    programs: [...programs].map(([program, because]) => ({ program, because })),
    venvs,
    ...installed(workspace, arch),
  }
}

/** Not all of them: a folder may hold a million. */
function firstNames(folder: string): string[] {
  try {
    const names: string[] = []
    const listing = opendirSync(folder)
    try {
      for (let entry = listing.readSync(); entry && names.length < LISTED; entry = listing.readSync())
        names.push(entry.name)
    } finally {
      listing.closeSync()
    }
    return names
  } catch {
    return []
  }
}

/** @returns null where there is no such file; a pipe or a device of that name is none */
function beginningOf(path: string, bytes: number): { text: string; whole: boolean } | null {
  let fd: number | undefined
  try {
    // Without waiting: nobody may ever write to a pipe.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    const stat = fstatSync(fd)
    if (!stat.isFile()) return null
    const buffer = Buffer.alloc(Math.min(stat.size, bytes))
    const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0))
    return { text, whole: stat.size <= bytes }
  } catch {
    return null
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

interface InstalledPackage {
  os?: string[]
  cpu?: string[]
  libc?: string[]
}

/** What npm wrote down of the packages that are in node_modules: which systems each is for, where it is not for all. */
function installed(workspace: string, arch: string): Pick<ProjectNeeds, 'foreign' | 'glibc'> {
  const none = { foreign: [], glibc: false }
  const list = beginningOf(join(workspace, 'node_modules/.package-lock.json'), LONGEST_LIST)
  if (!list?.whole) return none
  try {
    const { packages } = JSON.parse(list.text) as { packages: Record<string, InstalledPackage> }
    const all = Object.values(packages)
    return {
      foreign: [...new Set(all.flatMap((one) => otherSystem(one, arch)))].slice(0, NAMED),
      glibc: all.some(({ libc }) => libc?.includes('glibc')),
    }
  } catch {
    // Another package manager, or a list that is no list.
    return none
  }
}

function otherSystem({ os, cpu }: InstalledPackage, arch: string): string[] {
  if (excludes(os, 'linux')) return systems(os)
  return excludes(cpu, arch) ? systems(cpu) : []
}

/** Names of systems as they are; whoever wrote the list may have put other words there. */
const systems = (list: string[] = []): string[] =>
  list.filter((one) => /^!?[a-z0-9_]{1,16}$/.test(one)).map((one) => one.replace('!', 'all but '))

/** npm's rule: a list of those that are meant, or, with `!`, of those that are not. */
function excludes(list: string[] | undefined, own: string): boolean {
  if (!Array.isArray(list) || list.length === 0) return false
  if (list.includes(`!${own}`)) return true
  const meant = list.filter((one) => !one.startsWith('!'))
  return meant.length > 0 && !meant.includes(own)
}
