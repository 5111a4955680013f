/** What a folder's `.git` is, as real gits leave it and as somebody could have planted it. */
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commitAll, hasGit, makeRepository, run } from './git.fixture.ts'
import { inspectRepository } from './repository.ts'
import { file, makeTree } from './tree.fixture.ts'

let base = ''
beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'repository-'))
})
afterEach(() => fs.rmSync(base, { recursive: true, force: true }))

describe.runIf(hasGit)('a repository that git made', () => {
  /** Two branches that change the same line. */
  function divided(): string {
    const folder = makeRepository(join(base, 'divided'))
    const say = (text: string) => {
      fs.writeFileSync(join(folder, 'a'), text)
      commitAll(folder, text)
    }
    say('start\n')
    run(folder, ['branch', 'other'])
    say('mine\n')
    run(folder, ['checkout', '-q', 'other'])
    say('theirs\n')
    say('theirs again\n')
    run(folder, ['checkout', '-q', 'main'])
    return folder
  }

  test('its folder, and no repository at all', async () => {
    expect(await inspectRepository(base)).toEqual({ kind: 'none' })
    expect(await inspectRepository(join(base, 'not there'))).toEqual({ kind: 'none' })
    expect(await inspectRepository(makeRepository(join(base, 'r')))).toEqual({ kind: 'inside', busy: null })
  })

  test.each([
    ['merge', ['merge', 'other']],
    ['rebase', ['rebase', 'other']],
    ['rebase', ['rebase', '--apply', 'other']],
    ['cherry-pick', ['cherry-pick', 'other~1', 'other']],
    ['revert', ['revert', '--no-edit', 'HEAD~1']],
    ['bisect', ['bisect', 'start', 'HEAD', 'HEAD~1']],
  ] as const)('in the middle of a %s: git %j', async (busy, command) => {
    const folder = divided()
    try {
      run(folder, command)
    } catch {} // a conflict, as is meant
    expect(await inspectRepository(folder)).toEqual({ kind: 'inside', busy })
  })

  test('between two of several picks, and while another git has its lock', async () => {
    const folder = divided()
    expect(() => run(folder, ['cherry-pick', 'other~1', 'other'])).toThrow()
    fs.writeFileSync(join(folder, 'a'), 'settled\n')
    run(folder, ['add', 'a'])
    run(folder, ['commit', '-q', '-m', 'by hand'])
    expect(fs.existsSync(join(folder, '.git/CHERRY_PICK_HEAD'))).toBe(false)
    expect(await inspectRepository(folder)).toEqual({ kind: 'inside', busy: 'cherry-pick' })
    run(folder, ['cherry-pick', '--quit'])
    expect(await inspectRepository(folder)).toEqual({ kind: 'inside', busy: null })
    fs.writeFileSync(join(folder, '.git/index.lock'), '')
    expect(await inspectRepository(folder)).toEqual({ kind: 'inside', busy: 'index.lock' })
  })

  test('linked work trees and submodules lead elsewhere', async () => {
    const folder = divided()
    const linked = join(base, 'linked')
    run(folder, ['worktree', 'add', '-q', '--detach', linked])
    expect(() => run(linked, ['merge', 'other'])).toThrow()
    expect(await inspectRepository(linked)).toEqual({
      kind: 'linked',
      leadsTo: fs.realpathSync(join(folder, '.git/worktrees/linked')),
      outside: true,
      busy: 'merge',
    })
    // With its git folder inside, what it shares with the others still is not.
    fs.cpSync(join(folder, '.git/worktrees/linked'), join(linked, 'own'), { recursive: true })
    fs.writeFileSync(join(linked, '.git'), 'gitdir: own\n')
    fs.writeFileSync(join(linked, 'own/commondir'), `${join(folder, '.git')}\n`)
    expect(await inspectRepository(linked)).toMatchObject({ leadsTo: join(linked, 'own'), outside: true })

    const apart = join(base, 'apart')
    run(base, ['init', '-q', '--separate-git-dir', join(apart, 'real.git'), apart])
    expect(await inspectRepository(apart)).toMatchObject({ kind: 'linked', outside: false, busy: null })
  })
})

test('what is planted there is not followed', async () => {
  const at = (name: string) => join(base, name)
  for (const name of ['secret', 'w/inner']) fs.mkdirSync(at(name), { recursive: true })
  fs.writeFileSync(at('secret/MERGE_HEAD'), '')
  const workspace = at('w')
  const plant = async (make: (git: string) => void) => {
    fs.rmSync(join(workspace, '.git'), { recursive: true, force: true })
    make(join(workspace, '.git'))
    return inspectRepository(workspace)
  }
  const pointing = (to: string) => plant((git) => fs.writeFileSync(git, `gitdir: ${to}\n`))
  expect(await pointing('../secret')).toMatchObject({ leadsTo: at('secret'), outside: true })
  expect(await pointing('inner/../../secret')).toMatchObject({ outside: true })
  expect(await pointing('.')).toMatchObject({ outside: true })
  expect(await pointing('inner')).toMatchObject({ leadsTo: at('w/inner'), outside: false, busy: null })
  fs.symlinkSync(at('secret'), at('w/door'))
  expect(await pointing('door/sub')).toMatchObject({ outside: true })
  expect(await plant((git) => fs.symlinkSync('../secret', git))).toMatchObject({ kind: 'linked', outside: true })
  expect(await plant((git) => fs.writeFileSync(git, 'no pointer'))).toEqual({ kind: 'none' })
  expect(await plant((git) => fs.writeFileSync(git, Buffer.alloc(100_000, 'g')))).toEqual({ kind: 'none' })
  expect(await plant((git) => execFileSync('mkfifo', [git]))).toEqual({ kind: 'none' })
  makeTree(workspace, new Map([['inner/x', file('')]]))
  execFileSync('mkfifo', [at('w/inner/commondir')])
  fs.mkdirSync(at('w/inner/sequencer'))
  execFileSync('mkfifo', [at('w/inner/sequencer/todo')])
  expect(await pointing('inner')).toMatchObject({ outside: false, busy: null })
})
