import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SessionManager } from './index.ts'
import { begin, run, type TestHome, testHome } from './testing.ts'

describe('what a project will miss in its sandbox', () => {
  let place: TestHome
  let manager: SessionManager
  let close: () => Promise<void>

  beforeEach(async () => {
    place = testHome()
    ;({ manager, close } = await place.open())
  })
  afterEach(async () => {
    await close()
    await place.remove()
  })

  const put = (name: string, text = '') => {
    mkdirSync(join(place.workspace, name, '..'), { recursive: true })
    writeFileSync(join(place.workspace, name), text)
  }
  const anotherPython = (name: string) =>
    `${name} was made for another Python than the sandbox had when it began: make it anew inside.`
  const notes = async () => {
    for (const { id } of manager.list()) await manager.find(id).destroy()
    const session = await begin(manager, place.workspace)
    return {
      session,
      text: session
        .summary()
        .notes.filter((note) => !/copied/.test(note))
        .join('\n'),
    }
  }

  test('is named with the file that wants it and with a way out, and leaves no trace', async () => {
    // Nobody has this one; the other everybody.
    put('stack.yaml')
    put('.git/HEAD')
    const { session, text } = await notes()
    expect(text).toMatch(/^Not in the sandbox when it began: stack \(stack\.yaml\)\. It has this machine/)
    expect(session.commands()).toEqual([])
    expect((await run(session, 'git --version; ls /run/rewind')).stdout).toMatch(/^git version/)
  })

  test('is nothing where everything is there, or nothing is wanted', async () => {
    put('.git/HEAD')
    expect((await notes()).text).toBe('')
  })

  test('a Python environment whose Python is elsewhere is named', async () => {
    put('.venv/pyvenv.cfg')
    put('venv/pyvenv.cfg')
    for (const name of ['.venv', 'venv']) mkdirSync(join(place.workspace, name, 'bin'))
    symlinkSync('/opt/gone/python3.9', join(place.workspace, '.venv/bin/python'))
    put('venv/bin/python', '#!/bin/sh\n')
    chmodSync(join(place.workspace, 'venv/bin/python'), 0o755)
    expect((await notes()).text).toBe(anotherPython('.venv'))
  })

  test('a Python environment whose packages are for another version is named', async () => {
    put('.venv/pyvenv.cfg')
    put('python3.12', '#!/bin/sh\n')
    chmodSync(join(place.workspace, 'python3.12'), 0o755)
    mkdirSync(join(place.workspace, '.venv/bin'))
    symlinkSync('../../python3.12', join(place.workspace, '.venv/bin/python'))
    put('.venv/lib/python3.9/site-packages/pytest.py')
    expect((await notes()).text).toBe(anotherPython('.venv'))
    put('.venv/lib/python3.12/site-packages/pytest.py')
    expect((await notes()).text).toBe('')
  })

  test('packages for another system are named without a look inside', async () => {
    put('node_modules/.package-lock.json', JSON.stringify({ packages: { a: { os: ['darwin'] } } }))
    expect((await notes()).text).toMatch(/^node_modules held packages for darwin/)
  })
})
