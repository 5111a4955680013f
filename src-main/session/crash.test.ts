/**
 * The crash suite: the host, the host with the sandbox's holder, and the control shell are killed at every declared point
 * of an operation. Afterwards everything is as before it, or everything as after it; nothing is left open, and the
 * session goes on.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { suiteNeeding } from '../../e2e/needs.ts'
import type { Message } from '../contract/index.ts'
import {
  crashPoints,
  endCrashPoints,
  escalationCrashPoints,
  pauseCrashPoints,
  pruneCrashPoints,
  shellCrashPoints,
} from '../store/index.ts'
import { begin, checkpoint, messagesOf, rollback, type TestHome, testHome, tree, write } from './testing.ts'

const first: Message[] = [{ role: 'user', content: 'first' }]
const second: Message[] = [...first, { role: 'assistant', content: 'second' }]
const FIRST_TREE = './kept.txt: as it was\n./note: one\n'
const SECOND_TREE = './kept.txt: as it was\n./note: two\n'

// As an ordinary user: root goes the same way, and each point takes seconds. The engine's own points both go through.
suiteNeeding(['local', 'userns'], 'a crash in the middle', () => {
  let place: TestHome
  beforeEach(() => {
    place = testHome()
  })
  afterEach(() => place.remove())

  /** A session at `first` whose files and messages have gone on to `second`. */
  const prepare = async () => {
    const { manager, close } = await place.open()
    const session = await begin(manager, place.workspace)
    await write(session, 'note', 'one')
    await checkpoint(session, 'first', first)
    await write(session, 'note', 'two')
    await session.sync({ messages: second, revision: null })
    await close()
  }

  const operate = (operation: string, crashAt: string) =>
    spawnSync(process.execPath, [join(import.meta.dirname, 'crash-child.ts'), place.home, operation], {
      env: { ...process.env, REWIND_CRASH_AT: crashAt },
      encoding: 'utf8',
      timeout: 30_000,
    })

  /** As when the machine's memory is full: processes and mounts are gone with it. */
  const killHolder = () => {
    for (const id of readdirSync(join(place.home, 'sandboxes'))) {
      const state = readFileSync(join(place.home, 'sandboxes', id, 'state.json'), 'utf8')
      const [, pid] = /"holder":\{"pid":(\d+)/.exec(state) ?? []
      process.kill(Number(pid), 'SIGKILL')
    }
  }

  const expectWhole = async (operation: string) => {
    const { manager, close } = await place.open()
    try {
      const [summary] = manager.list()
      if (!summary) throw new Error('the session is gone')
      const session = manager.find(summary.id)
      const seen = { tree: await tree(session), messages: messagesOf(session).map((message) => message.content) }
      const { head, epoch, points } = session.timeline()
      const labels = points.map((point) => point.label)
      const rollbacks = session.ledger({ checkpoint: null, type: 'rollback', status: null }).length
      if (operation === 'checkpoint') {
        expect(seen).toEqual({ tree: SECOND_TREE, messages: ['first', 'second'] })
        const done = labels.includes('second')
        expect(points.find((point) => point.id === head)?.label).toBe(done ? 'second' : 'first')
        expect(points.length).toBe(done ? 3 : 2)
      } else if (epoch === 0) {
        expect(seen).toEqual({ tree: SECOND_TREE, messages: ['first', 'second'] })
        expect(points.length).toBe(2)
        expect(rollbacks).toBe(0)
      } else {
        expect(seen.tree).toBe(FIRST_TREE)
        expect(seen.messages[0]).toBe('first')
        expect(seen.messages).toHaveLength(2)
        expect(String(seen.messages[1])).toContain('[REWIND]')
        expect(points.map((point) => point.kind)).toEqual(['base', 'checkpoint', 'tip'])
        expect(rollbacks).toBe(1)
      }
      expect(session.verifyLedger().whole).toBe(true)

      await write(session, 'note', 'three')
      await checkpoint(session, 'third')
      await write(session, 'note', 'four')
      await rollback(session, 'third')
      expect(await tree(session)).toContain('./note: three')
      await session.undo()
      expect(await tree(session)).toContain('./note: four')
    } finally {
      await close()
    }
  }

  for (const point of crashPoints)
    for (const victims of ['host', 'host and holder'])
      test(`${victims} killed at ${point}`, async () => {
        await prepare()
        const [operation = ''] = point.split(':')
        const { signal, stdout } = operate(operation, point)
        expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })
        if (victims === 'host and holder') killHolder()
        await expectWhole(operation)
      })

  /** What each rewind of another kind begins from and leads to: epoch, files, messages. */
  const kinds = {
    undo: {
      before: [1, FIRST_TREE, ['first', expect.stringContaining('[REWIND]')]],
      after: [2, SECOND_TREE, ['first', 'second']],
    },
    'only-files': {
      before: [0, SECOND_TREE, ['first', 'second']],
      after: [1, FIRST_TREE, ['first', 'second']],
    },
    'only-messages': {
      before: [0, SECOND_TREE, ['first', 'second']],
      after: [1, SECOND_TREE, ['first', expect.stringContaining('[REWIND]')]],
    },
  }
  for (const [kind, { before, after }] of Object.entries(kinds))
    for (const point of crashPoints.filter((name) => name.startsWith('rollback:')))
      test(`host killed at ${point} of ${kind}`, async () => {
        await prepare()
        if (kind === 'undo') {
          const { manager, close } = await place.open()
          await rollback(manager.find(manager.list()[0]?.id ?? ''), 'first')
          await close()
        }
        const { signal, stdout } = operate(kind, point)
        expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })
        const { manager, close } = await place.open()
        try {
          const session = manager.find(manager.list()[0]?.id ?? '')
          const files = await tree(session)
          const messages = messagesOf(session).map((message) => message.content)
          // Where the sandbox had done its part, it is made up for.
          const done = point !== 'rollback:intent-written'
          expect([session.timeline().epoch, files, messages]).toEqual(done ? after : before)
          expect(session.verifyLedger().whole).toBe(true)
          await write(session, 'note', 'three')
          await checkpoint(session, 'third')
          await rollback(session, 'first')
          await session.undo()
          expect(await tree(session)).toContain('./note: three')
        } finally {
          await close()
        }
      })

  for (const point of endCrashPoints)
    test(`host killed at ${point}`, async () => {
      await prepare()
      const [operation = ''] = point.split(':')
      const { signal, stdout } = operate(operation, point)
      expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })
      const { manager, close } = await place.open()
      try {
        const [{ id } = { id: '' }] = manager.list()
        const removed = point === 'destroy:sandbox-removed'
        await expect.poll(() => manager.find(id).summary().status).toBe(removed ? 'destroyed' : 'ended')
        const session = manager.find(id)
        const read = session.read({ path: 'note', at: 'first', encoding: 'utf-8' })
        if (removed) await expect(read).rejects.toThrow()
        else expect(await read).toMatchObject({ content: 'one' })
        expect(session.verifyLedger().whole).toBe(true)
        if (!removed) await session.destroy()
        expect(readdirSync(join(place.home, 'sandboxes'))).toEqual([])
        expect(await tree(await begin(manager, place.workspace))).toBe('./kept.txt: as it was\n')
      } finally {
        await close()
      }
    })

  for (const point of pauseCrashPoints)
    test(`host killed at ${point}`, async () => {
      await prepare()
      const { signal, stdout } = operate('pause', point)
      expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })
      const { manager, close } = await place.open()
      try {
        const session = manager.find('test')
        const paused = point === 'pause:held'
        await session.details()
        await expect.poll(() => session.summary().status).toBe(paused ? 'paused' : 'running')
        await session.unpause()
        expect(session.summary().status).toBe('running')
        expect(await tree(session)).toBe(SECOND_TREE)
      } finally {
        await close()
      }
    })

  for (const point of escalationCrashPoints)
    test(`host killed at ${point}`, async () => {
      await prepare()
      const { signal, stdout } = operate('escalation', point)
      expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })
      const { manager, close } = await place.open()
      try {
        const [question] = manager.escalations({ session: null, open: false })
        if (!question) throw new Error('the escalation is gone')
        const session = manager.find(question.session)
        const answer = (resolution: 'rollback' | 'stop') =>
          session.escalations.answer({
            id: question.id,
            resolution,
            note: null,
            via: 'command line',
            handler: false,
            error: null,
          })
        expect(question.status).toBe(point === 'escalation:raised' ? 'open' : 'answered')
        if (question.status === 'open') await answer('rollback')
        // What was decided before the crash is carried out by this host, which nobody asks for.
        await session.escalations.wait(question.id)
        await expect(answer('stop')).rejects.toMatchObject({ code: 'DECLINED' })
        expect(await tree(session)).toBe(FIRST_TREE)
        expect(session.timeline().epoch).toBe(1)
        const types = session.ledger({ checkpoint: null, type: null, status: null }).map(({ eventType }) => eventType)
        expect(types).toEqual(['escalation', 'rollback'])
        expect(session.verifyLedger().whole).toBe(true)
        expect(session.summary()).toMatchObject({ status: 'running', pendingEscalations: 0 })
        await session.undo()
        expect(await tree(session)).toBe(SECOND_TREE)
        await write(session, 'note', 'three')
        await checkpoint(session, 'third')
      } finally {
        await close()
      }
    })

  for (const point of pruneCrashPoints)
    test(`host killed at ${point}`, async () => {
      await prepare()
      const before = await place.open()
      const [{ id } = { id: '' }] = before.manager.list()
      const early = before.manager.find(id)
      for (const label of ['second', 'third']) {
        await checkpoint(early, label)
        await write(early, 'note', label)
      }
      await checkpoint(early, 'fourth')
      await before.close()
      const { signal, stdout } = operate('prune', point)
      expect({ signal, stdout }).toEqual({ signal: 'SIGKILL', stdout: '' })

      const { manager, close } = await place.open()
      try {
        const session = manager.find(id)
        const { points } = session.timeline()
        expect(points.map(({ label, parent }) => [label, parent])).toEqual([
          [null, null],
          ['third', points[0]?.id],
          ['fourth', points[1]?.id],
        ])
        expect(session.ledger({ checkpoint: null, type: 'prune', status: null })).toHaveLength(1)
        expect(session.verifyLedger().whole).toBe(true)
        await session.gc()
        expect((await session.gc()).freed).toBe(0)
        expect(await tree(session)).toContain('./note: third')
        await rollback(session, 'third')
        expect(await tree(session)).toContain('./note: second')
        await session.undo()
        expect(await tree(session)).toContain('./note: third')
      } finally {
        await close()
      }
    })

  // What a folder renamed over a live base needs is the engine's own: its suite has these two.
  for (const point of shellCrashPoints.filter((name) => !name.endsWith('-renamed')))
    test(`control shell killed at ${point}`, async () => {
      await prepare()
      const operation = point.includes('checkpoint') ? 'checkpoint' : 'rollback'
      const { stdout, stderr } = operate(operation, point)
      // The armed shell died, so the point was reached; the host outlived it and did the operation with another.
      expect(`${stdout}${stderr}`).toBe('{"before":1,"after":0}')
      await expectWhole(operation)
    })
})
