import { beforeEach, describe, expect, test } from 'vitest'
import { FixtureHost } from '../fixtures/fixture-host.ts'
import { FixtureSession } from '../fixtures/fixture-session.ts'
import { createHost, type Host } from '../host/host.ts'
import { overChannel } from '../host/link.ts'

let session: FixtureSession
let window: Host

beforeEach(async () => {
  const fixture = new FixtureHost()
  session = new FixtureSession(fixture.raise, { id: 's', name: 's' }, { 'a.txt': 'one' })
  session.checkpoint({ label: 'stable' })
  session.write('a.txt', 'two')
  fixture.sessions.push(session)
  window = createHost(overChannel(fixture.serve()))
  window.start()
  await until(() => window.session.getState().load === 'ready')
})

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 5000
  while (!holds()) {
    if (Date.now() > deadline) throw new Error('It did not come to be within 5 s.')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const stable = () => {
  const found = window.session.getState().timeline?.points.find(({ label }) => label === 'stable')
  if (!found) throw new Error('no stable')
  return found
}

describe('rewinding', () => {
  test('opens for a point, and cancelling changes nothing', () => {
    window.rewind.ask(stable())
    expect(window.rewind.getState().sheet?.label).toBe('stable')
    window.rewind.cancel()
    expect(window.rewind.getState().sheet).toBeNull()
    expect(session.now.tree['a.txt']).toBe('two')
  })

  test('takes the sandbox back, says so with its undo, and looks at now again', async () => {
    window.selection.select(stable().id)
    window.rewind.ask(stable())
    await window.rewind.rewind('both')
    expect(session.now.tree['a.txt']).toBe('one')
    expect(window.rewind.getState()).toMatchObject({
      sheet: null,
      toast: { kind: 'rewound', text: 'Rewound to stable in 12 ms', undo: true },
    })
    expect(window.selection.getState().moment).toBe('now')
    await until(() => window.session.getState().timeline?.undo !== null)
    await window.rewind.undo()
    expect(session.now.tree['a.txt']).toBe('two')
    expect(window.rewind.getState().toast).toMatchObject({ kind: 'undone', undo: false })
  })

  test('a rewind that the host refuses leaves the sheet open with the reason', async () => {
    window.rewind.ask({ ...stable(), id: 'pruned meanwhile' })
    await window.rewind.rewind('both')
    const { sheet, problem, busy } = window.rewind.getState()
    expect(sheet).not.toBeNull()
    expect(problem).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' })
    expect(busy).toBe(false)
  })

  test('undo without a rewind does nothing', async () => {
    await window.rewind.undo()
    expect(window.rewind.getState().toast).toBeNull()
  })
})

describe('checkpoints from the window', () => {
  test('reach the timeline by an event', async () => {
    await window.rewind.checkpoint('mine')
    await until(() => window.session.getState().timeline?.points.at(-1)?.label === 'mine')
    expect(window.rewind.getState().toast?.text).toMatch(/^mine taken in \d+ ms$/)
  })

  test('a label that is taken is the caller’s to show', async () => {
    await expect(window.rewind.checkpoint('stable')).rejects.toMatchObject({ code: 'CHECKPOINT_EXISTS' })
  })
})
