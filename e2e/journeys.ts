/**
 * What a person does with the window, written once. browser.test.ts and electron.test.ts walk the same journeys over
 * their own kind of window; a journey knows neither.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import SQLite from 'better-sqlite3'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { DataFolder } from './host.ts'
import { connect } from './mcp-clients.ts'
import { MainWindow } from './pages/main-window.ts'
import { differencesBetween, treeOf } from './workspace-tree.ts'

/** A window, and the data folder that it shows. */
export interface Stage {
  page: Page
  data: DataFolder
}

const VISIBLE = { state: 'visible', timeout: 20_000 } as const

/** Before there is a session: what this is, and how to begin. */
export async function emptyState({ page }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await window.watchDemo.waitFor(VISIBLE)
  await page.getByText('No sessions yet').waitFor(VISIBLE)
  expect(await page.getByText('rewind init .').count()).toBe(1)
  expect(await window.timeline.count()).toBe(0)
}

/** The demo from its button to its last word: everything that it promises is in the window, and in the sandbox. */
export async function watchTheDemo({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await window.watchDemo.click()
  await demoIsOver(window)
  await expectDemoTold(window, data)
}

/** An agent comes in over MCP: its session, its calls and their answers appear, and the person's rewind is told to it. */
export async function watchAnAgent({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const project = data.folder('agent-project')
  const agent = await connect('2025 over stdin', data, { name: 'an agent', args: ['--allow', project] })
  try {
    await agent.call('init_sandbox', { path: project, container_name: 'by_agent' })
    await window.session('by_agent').click()
    await agent.call('sandbox_checkpoint', { label: 'start' })
    await agent.call('write_sandbox_file', { path: 'plan.md', content: 'step one' })
    await window.tab('Agent').click()
    const written = window.toolCalls.getByRole('listitem').filter({ hasText: 'write_sandbox_file' })
    await written.getByText('an agent 1.2.3').waitFor(VISIBLE)

    const waiting = agent.call('execute_sandbox_command', { cmd: 'while [ ! -e go ]; do sleep 0.1; done; exit 3' })
    await page.getByRole('button', { name: 'execute_sandbox_command, running, open' }).waitFor(VISIBLE)
    await agent.call('write_sandbox_file', { path: 'go', content: '' })
    expect((await waiting).data.code).toBe(3)
    await page.getByRole('button', { name: 'execute_sandbox_command, failed, open' }).click()
    await window.toolCalls.getByText('"code":3').waitFor(VISIBLE)

    await window.point(/^start, checkpoint/).click()
    await window.button('Rewind').click()
    await window.sheet.getByRole('button', { name: 'Rewind', exact: true }).click()
    await window.toast.waitFor(VISIBLE)
    const told = await agent.call('execute_sandbox_command', { cmd: 'cat plan.md' })
    expect(told.isError).toBe(true)
    expect(told.text).toContain('A person rewound files, messages and processes to "start"')
    expect(told.text).toContain('Read again: go, plan.md.')
  } finally {
    await agent.close()
  }
}

/** The story has ended: the verdict is in, the rewind done. */
async function demoIsOver(window: MainWindow): Promise<void> {
  await window.story.getByText('Your turn').waitFor({ state: 'visible', timeout: 40_000 })
}

async function expectDemoTold(window: MainWindow, data: DataFolder): Promise<void> {
  // The good point on the line, with its verdict; what failed beside it, as a branch.
  await window.point(/^stable, checkpoint, pass,.*ago|^stable, checkpoint, pass, just now/).waitFor(VISIBLE)
  const failed = window.point(/fail,.*branch A$/)
  await failed.waitFor(VISIBLE)

  // The broken write can be looked at, and looking changes nothing.
  await failed.click()
  await window.tab('Changes').click()
  await window.file('auth.py, modified').click()
  await window.difference('auth.py').getByText('ATTEMPTS = {}').waitFor(VISIBLE)

  // Now is the file as it was at stable.
  await window.now.click()
  const session = await demoSession(data)
  const { content } = await data.json<{ content: string }>('--session', session.name, 'read', 'auth.py')
  expect(content).toContain('hmac.compare_digest(password, PASSWORD)')
  expect(content).not.toContain('ATTEMPTS')

  // The history lost the call that was left hanging, and ends in the cue.
  await window.tab('Messages').click()
  await window.conversation.getByText('resume', { exact: true }).waitFor(VISIBLE)
  await window.cut.getByText('Now the lock after five attempts.').waitFor(VISIBLE)
  // At the point the conversation ends before it, and what came later is told apart.
  await window.point(/^stable, checkpoint, pass/).click()
  await window.later.getByText('resume', { exact: true }).waitFor(VISIBLE)
  expect(await window.later.getByText('Compare passwords in constant time').count()).toBe(0)
  await window.now.click()
  await window.later.waitFor({ state: 'detached' })
  const { messages, problems } = await data.ask((rpc) => rpc.messages.get({ session: session.id, at: 'now' }))
  expect(problems).toEqual([])
  expect(JSON.stringify(messages)).not.toContain('call_2')
  await window.page.getByText('valid', { exact: true }).waitFor(VISIBLE)
  await window.page.getByText('OpenAI chat', { exact: true }).waitFor(VISIBLE)
  await window.page.getByRole('button', { name: 'What each provider would say' }).click()
  await window.providers.getByRole('listitem').nth(4).waitFor(VISIBLE)
  expect(await window.providers.getByText('takes it').count()).toBe(5)
  await window.page.getByRole('button', { name: 'What each provider would say' }).click()

  await window.tab('Ledger').click()
  await window.ledger
    .getByRole('row', { name: /^verification, fail/ })
    .first()
    .waitFor(VISIBLE)
  await window.ledger
    .getByRole('row', { name: /^rollback,.*stable/ })
    .first()
    .waitFor(VISIBLE)
}

async function demoSession(data: DataFolder) {
  const sessions = await data.ask((rpc) => rpc.sessions.list())
  const demo = sessions.find((session) => session.demo && session.status === 'running')
  if (!demo) throw new Error('there is no live demo session')
  return demo
}

/** The sheet says what goes, exactly that goes, and undo brings all of it back. Begins where the demo ended. */
export async function rewindAndUndo({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const { name, id } = await demoSession(data)
  const shell = (command: string) => data.json('--session', name, 'exec', command)
  await shell('echo draft > notes.txt && echo more >> README.md && rm -f verify.sh')
  await data.json('--session', name, 'checkpoint', 'wandered off')
  await shell('mkdir -p later && echo unsaved > later/today.txt')
  const messagesBefore = await data.ask((rpc) => rpc.messages.get({ session: id, at: 'now' }))
  const before = await treeOf(data, name)

  await window.point(/^wandered off, checkpoint/).waitFor(VISIBLE)
  await window.point(/^stable, checkpoint/).click()
  await page.keyboard.press('r')
  await window.sheet.waitFor(VISIBLE)
  await page.getByRole('dialog', { name: 'Rewind to stable' }).waitFor(VISIBLE)
  await window.sheet.getByText('1 point leaves the line, kept as a branch').waitFor(VISIBLE)
  await window.sheet.getByText('wandered off').waitFor(VISIBLE)
  const promised = await window.sheet
    .getByRole('list', { name: 'Files that change back' })
    .getByRole('listitem')
    .allInnerTexts()
  const cancel = window.sheet.getByRole('button', { name: 'Cancel' })
  expect(await cancel.evaluate((button) => button === document.activeElement)).toBe(true)
  await window.sheet.getByRole('button', { name: 'Rewind', exact: true }).click()
  await window.toast.getByText(/^Rewound to stable in \d+ ms$/).waitFor(VISIBLE)

  // What was promised is what happened.
  const after = await treeOf(data, name)
  expect(promised.map(normalised).sort()).toEqual(differencesBetween(before, after))
  await window
    .point(/branch B$/)
    .first()
    .waitFor(VISIBLE)
  expect(await window.sheet.count()).toBe(0)

  await window.button('Undo rewind').click()
  await window.toast.getByText(/^Rewind undone/).waitFor(VISIBLE)
  expect(await treeOf(data, name)).toEqual(before)
  const messagesAfter = await data.ask((rpc) => rpc.messages.get({ session: id, at: 'now' }))
  expect(messagesAfter.messages.length).toBeGreaterThanOrEqual(messagesBefore.messages.length)
}

const normalised = (row: string): string => row.replace(/\s+/g, ' ').trim()

/** What happens in a terminal is in the window within a second. */
export async function sessionFromTheTerminal({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await window.sessionsPane.waitFor(VISIBLE)
  await data.json('init', data.folder('shop'), '--session', 'from_terminal')
  await window.session('from_terminal').waitFor({ state: 'visible', timeout: 1_000 })
  await window.session('from_terminal').click()
  await window.now.waitFor(VISIBLE)
  await data.json('--session', 'from_terminal', 'write', 'a.txt', 'one')
  await data.json('--session', 'from_terminal', 'checkpoint', 'first')
  await window.point(/^first, checkpoint/).waitFor({ state: 'visible', timeout: 1_000 })

  // A sub-agent's conversation beside the main one, in a format of its own; after a rewind the cue is in its last message.
  const said = (text: string) => [{ role: 'user', content: [{ type: 'text', text }] }]
  const sync = (conversation: string, messages: object[]) =>
    data.ask((rpc) =>
      rpc.messages.sync({ session: 'from_terminal', conversation, format: 'anthropic', messages: messages as never }),
    )
  await sync('main', said('Build the shop.'))
  await sync('reviewer', said('Review the shop.'))
  await data.json('--session', 'from_terminal', 'checkpoint', 'second')
  await sync('reviewer', [...said('Review the shop.'), { role: 'assistant', content: 'It is fine.' }])
  await window.tab('Messages').click()
  await window.conversation.getByText('Build the shop.').waitFor(VISIBLE)
  await page.getByLabel('Which conversation').selectOption('reviewer')
  await window.conversation.getByText('It is fine.').waitFor(VISIBLE)
  await page.getByText('Anthropic', { exact: true }).waitFor(VISIBLE)
  await data.json('--session', 'from_terminal', 'rollback', 'second')
  await window.conversation.getByText('resume', { exact: true }).waitFor(VISIBLE)
  await window.conversation.getByText('Review the shop.').waitFor(VISIBLE)
  await window.cut.getByText('It is fine.').waitFor(VISIBLE)
  expect(await window.cut.getByRole('listitem').count()).toBe(1)
}

/** The sandbox's work comes home: looked at, one conflict decided and one left, written, taken back; by the keyboard too. */
export async function commitToTheWorkspace({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const folder = data.folder('shop-to-commit')
  const onHost = (name: string) => readFileSync(join(folder, name), 'utf8')
  for (const name of ['a.txt', 'mine.txt', 'theirs.txt']) writeFileSync(join(folder, name), 'start\n')
  await data.json('init', folder, '--session', 'committing')
  const edit =
    'for f in a mine theirs; do echo sandbox >$f.txt; done; mkdir new; echo 1 >new/one; echo 2 >new/two; ln -s /etc out'
  await data.json('--session', 'committing', 'exec', edit)
  for (const name of ['mine.txt', 'theirs.txt']) writeFileSync(join(folder, name), 'host too\n')
  await window.session('committing').click()
  await window.now.waitFor(VISIBLE)

  await window.button('Commit to workspace').click()
  const sheet = window.commitSheet
  const changes = sheet.getByRole('list', { name: 'Changes to commit' })
  await changes.getByText('new/one').waitFor(VISIBLE)
  await sheet.getByText('2 in the way').waitFor(VISIBLE)
  expect(await changes.getByText('changed in the sandbox and on the host').count()).toBe(2)
  expect(await changes.getByText('a symlink that leads out of the workspace').count()).toBe(1)
  const cancel = sheet.getByRole('button', { name: 'Cancel' })
  expect(await cancel.evaluate((button) => button === document.activeElement)).toBe(true)
  expect(onHost('a.txt')).toBe('start\n')

  await sheet.getByRole('combobox', { name: 'What to do with theirs.txt' }).selectOption('Take the sandbox’s')
  await sheet.getByRole('checkbox', { name: 'new/two, added' }).uncheck()
  await sheet.getByRole('button', { name: 'Commit to workspace' }).click()
  await sheet.getByRole('heading', { name: 'Committed to workspace' }).waitFor(VISIBLE)
  expect(await sheet.getByRole('list', { name: 'Written' }).getByRole('listitem').count()).toBe(5)
  expect(['a.txt', 'mine.txt', 'theirs.txt', 'new/one'].map(onHost)).toEqual([
    'sandbox\n',
    'host too\n',
    'sandbox\n',
    '1\n',
  ])
  expect(existsSync(join(folder, 'new/two'))).toBe(false)

  await window.point(/^committing-ckpt-1, checkpoint, committed/).waitFor({ state: 'attached' })

  await sheet.getByRole('button', { name: 'Undo commit' }).click()
  await sheet.getByRole('heading', { name: 'Commit undone' }).waitFor(VISIBLE)
  expect(['a.txt', 'theirs.txt'].map(onHost)).toEqual(['start\n', 'host too\n'])
  expect(existsSync(join(folder, 'new'))).toBe(false)
  await window.point(/^committing-ckpt-1, checkpoint, (?!committed)/).waitFor({ state: 'attached' })

  // By the keyboard alone: Done has the focus, W opens it again, and all but the conflicts goes.
  await page.keyboard.press('Enter')
  await sheet.waitFor({ state: 'hidden' })
  await expect.poll(() => page.evaluate(focused)).toEqual({ role: 'listbox', name: 'Timeline' })
  await page.keyboard.press('w')
  await changes.getByText('new/one').waitFor(VISIBLE)
  await tabTo(page, ({ name, role }) => name === 'Commit to workspace' && role === 'button')
  await page.keyboard.press('Enter')
  await sheet.getByRole('list', { name: 'Left out' }).getByText('mine.txt').waitFor(VISIBLE)
  expect(['a.txt', 'mine.txt', 'theirs.txt', 'new/two'].map(onHost)).toEqual([
    'sandbox\n',
    'host too\n',
    'host too\n',
    '2\n',
  ])
  await page.keyboard.press('Escape')

  // What the host changed since is not taken back over it; the sheet says so.
  writeFileSync(join(folder, 'a.txt'), 'edited since\n')
  await page.keyboard.press('w')
  await sheet.getByRole('button', { name: 'Undo last commit' }).click()
  await sheet.getByRole('alert').getByText('changed on the host since the commit').waitFor(VISIBLE)
  expect(onHost('a.txt')).toBe('edited since\n')
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
}

/** Of a file some hunks, by the keyboard; and a file that both sides changed, merged. */
export async function commitHunks({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const folder = data.folder('shop-of-hunks')
  const onHost = (name: string) => readFileSync(join(folder, name), 'utf8')
  const numbers = (edits: Record<number, string> = {}) =>
    Array.from({ length: 20 }, (_, at) => `${edits[at + 1] ?? `line ${at + 1}`}\n`).join('')
  for (const name of ['both.txt', 'mine.txt']) writeFileSync(join(folder, name), numbers())
  await data.json('init', folder, '--session', 'choosing')
  await data.json('--session', 'choosing', 'write', 'mine.txt', numbers({ 2: 'two', 18: 'eighteen' }))
  await data.json('--session', 'choosing', 'write', 'both.txt', numbers({ 5: 'five', 10: 'ten' }))
  writeFileSync(join(folder, 'both.txt'), numbers({ 10: 'TEN', 15: 'fifteen' }))
  await window.session('choosing').click()
  await window.now.waitFor(VISIBLE)

  await page.keyboard.press('w')
  const sheet = window.commitSheet
  await sheet.getByText('1 in the way').waitFor(VISIBLE)
  await tabTo(page, ({ name, role }) => name === 'Difference of mine.txt' && role === 'button')
  await page.keyboard.press('Enter')
  await sheet.getByRole('group', { name: 'Hunks of mine.txt' }).waitFor(VISIBLE)
  await tabTo(page, ({ name }) => name === 'Hunk 2 of 2, line 18 of mine.txt')
  await page.keyboard.press('Space')
  await sheet.getByText('1 of 2 hunks').waitFor(VISIBLE)
  const file = sheet.getByRole('checkbox', { name: 'mine.txt, modified' })
  expect(await file.evaluate((box) => (box as HTMLInputElement).indeterminate)).toBe(true)

  const decision = sheet.getByRole('combobox', { name: 'What to do with both.txt' })
  await decision.selectOption('Take the sandbox’s')
  await sheet.getByRole('button', { name: 'Difference of both.txt' }).click()
  await sheet.getByText('The host’s own edit, which goes').waitFor(VISIBLE)
  await decision.selectOption('Merge both')
  await sheet.getByText('The host’s own edit, which stays').waitFor(VISIBLE)
  const clash = sheet.getByRole('combobox', { name: 'Hunk 2 of 2, line 10 of both.txt' })
  expect(await clash.inputValue()).toBe('host')
  await clash.selectOption('Take the sandbox’s')
  await sheet.getByRole('button', { name: 'Commit to workspace' }).click()
  await sheet.getByRole('heading', { name: 'Committed to workspace' }).waitFor(VISIBLE)
  expect(onHost('mine.txt')).toBe(numbers({ 2: 'two' }))
  expect(onHost('both.txt')).toBe(numbers({ 5: 'five', 10: 'ten', 15: 'fifteen' }))
  await page.keyboard.press('Enter')
  await sheet.waitFor({ state: 'hidden' })

  // The rest is there the next time, and nothing else.
  await page.keyboard.press('w')
  await sheet.getByRole('button', { name: 'Difference of mine.txt' }).click()
  await sheet.getByRole('checkbox', { name: 'Hunk 1 of 1, line 18 of mine.txt' }).waitFor(VISIBLE)
  expect(await sheet.getByRole('list', { name: 'Changes to commit' }).getByText('both.txt').count()).toBe(0)
  await sheet.getByRole('button', { name: 'Undo last commit' }).click()
  await sheet.getByRole('heading', { name: 'Commit undone' }).waitFor(VISIBLE)
  expect([onHost('mine.txt'), onHost('both.txt')]).toEqual([numbers(), numbers({ 10: 'TEN', 15: 'fifteen' })])
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'hidden' })
}

/** Anywhere by a few letters: the palette, what is found and what is filtered; and from a command to what it changed. */
export async function goAnywhere({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const cli = (...args: string[]) => data.json('--session', 'roaming', ...args)
  await data.json('init', data.folder('roaming'), '--session', 'roaming')
  await data.json('init', data.folder('another'), '--session', 'another')
  await cli('auto-checkpoint')
  for (const name of ['one', 'two', 'three']) await cli('exec', '--as-tool', `echo ${name} > ${name}.txt`)
  await cli('checkpoint', 'before release')
  await window.session('roaming').waitFor(VISIBLE)

  const palette = page.getByRole('dialog', { name: 'Commands' })
  await page.keyboard.press('Control+k')
  await palette.waitFor(VISIBLE)
  await page.keyboard.type('roam')
  await palette.getByRole('option', { name: /^roaming/ }).waitFor(VISIBLE)
  expect(await palette.getByRole('option').count()).toBe(1)
  await page.keyboard.press('Enter')
  await window.now.waitFor(VISIBLE)
  await expect.poll(() => page.evaluate(focused)).toEqual({ role: 'listbox', name: 'Timeline' })

  await page.keyboard.press('Control+f')
  await page.keyboard.type('release')
  const find = page.getByRole('search', { name: 'Find in the timeline' })
  await find.getByText('– of 1').waitFor(VISIBLE)
  await page.keyboard.press('Enter')
  await find.getByText('1 of 1').waitFor(VISIBLE)
  await page.getByRole('heading', { name: 'before release' }).waitFor(VISIBLE)
  await page.keyboard.press('Escape')
  await find.waitFor({ state: 'hidden' })

  await page.keyboard.press('p')
  await window.point(/^before release, checkpoint, pinned/).waitFor(VISIBLE)

  await page.keyboard.press('f')
  await page.getByRole('checkbox', { name: 'A rule' }).check()
  await page.getByRole('checkbox', { name: 'Pinned' }).check()
  await page.getByText('0 of 4 points').waitFor(VISIBLE)
  await page.getByRole('button', { name: 'Show all points' }).click()
  await page.getByText('4 points', { exact: true }).waitFor(VISIBLE)
  await page.keyboard.press('Escape')

  await window.tab('Output').click()
  await page.getByRole('option', { name: /^echo two/ }).click()
  await page.getByRole('button', { name: 'Show what it changed' }).click()
  await window.file('two.txt, added').waitFor(VISIBLE)
  expect(await window.files.getByRole('treeitem').count()).toBe(1)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('back to now')
  await page.keyboard.press('Enter')
  await page.getByText('what stands in the sandbox').waitFor(VISIBLE)
}

/** The demo, a rewind and its undo without a pointer. */
export async function keyboardAlone({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await window.watchDemo.waitFor(VISIBLE)
  await tabTo(page, (focused) => focused.name === 'Watch the demo')
  await page.keyboard.press('Enter')
  await demoIsOver(window)
  const { name } = await demoSession(data)
  await data.json('--session', name, 'exec', 'echo lost > scratch.txt')
  const before = await treeOf(data, name)

  // Where nothing has the focus, the arrow keys are the timeline's.
  await expect.poll(() => page.evaluate(focused)).toEqual({ role: 'listbox', name: 'Timeline' })
  await page.keyboard.press('Home')
  const stable = window.point(/^stable, checkpoint/)
  for (let step = 0; (await stable.getAttribute('aria-selected')) !== 'true'; step++) {
    if (step > 20) throw new Error(`ArrowDown never reached stable: ${(await window.spoken()).join(' | ')}`)
    await page.keyboard.press('ArrowDown')
  }
  for (const [key, tab] of [
    ['2', 'Messages'],
    ['3', 'Output'],
    ['4', 'Ledger'],
    ['1', 'Changes'],
  ] as const) {
    await page.keyboard.press(key)
    await expect.poll(() => window.tab(tab).getAttribute('aria-selected')).toBe('true')
  }

  await page.keyboard.press('r')
  await window.sheet.getByText('scratch.txt').waitFor(VISIBLE)
  // Enter alone must not do it: the focus is on Cancel.
  await page.keyboard.press('Enter')
  await window.sheet.waitFor({ state: 'hidden' })
  expect(await treeOf(data, name)).toEqual(before)
  await expect.poll(() => page.evaluate(focused)).toEqual({ role: 'listbox', name: 'Timeline' })
  await page.keyboard.press('r')
  await window.sheet.getByText('scratch.txt').waitFor(VISIBLE)
  await tabTo(page, (focused) => focused.name.startsWith('Rewind') && focused.role === 'button')
  await page.keyboard.press('Enter')
  await window.toast.getByText(/^Rewound to stable/).waitFor(VISIBLE)
  expect(Object.keys(await treeOf(data, name))).not.toContain('scratch.txt')
  await page.keyboard.press('u')
  await window.toast.getByText(/^Rewind undone/).waitFor(VISIBLE)
  expect(await treeOf(data, name)).toEqual(before)
}

interface Focused {
  role: string
  name: string
}

/** In the page. */
function focused(): Focused {
  const element = document.activeElement
  const role = element?.getAttribute('role') ?? element?.tagName.toLowerCase() ?? ''
  return { role, name: element?.getAttribute('aria-label') ?? element?.textContent ?? '' }
}

async function tabTo(page: Page, wanted: (focused: Focused) => boolean): Promise<void> {
  const seen: Focused[] = []
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    const now = await page.evaluate(focused)
    if (wanted(now)) return
    seen.push(now)
  }
  throw new Error(`Tab never reached it, only ${seen.map(({ role, name }) => `${role} '${name}'`).join(', ')}`)
}

/** What is no text: a picture under a divide, a database by its rows, a binary by its bytes; and white space left out. */
export async function lookAtFiles({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const folder = data.folder('looked-at')
  const file = join(folder, 'app.db')
  const database = (name: string): Buffer => {
    const db = new SQLite(file)
    db.exec('CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT); DELETE FROM users')
    db.prepare('INSERT INTO users VALUES (1, ?)').run(name)
    db.close()
    return readFileSync(file)
  }
  const renamed = database('Grace')
  database('Ada')
  /** One pixel, of so much red. */
  const dot = (red: string) =>
    Buffer.from(`47494638396101000100800000${red}00000000002c00000000010001000002024401003b`, 'hex')
  const before = { 'dot.gif': dot('ff'), tool: Buffer.from([0, 1, 2, 3]), 'text.txt': Buffer.from('a\n b\n') }
  for (const [name, bytes] of Object.entries(before)) writeFileSync(join(folder, name), bytes)
  await data.json('init', folder, '--session', 'looked-at')
  const after = {
    ...{ 'dot.gif': dot('00'), tool: Buffer.from([0, 1, 255, 3]), 'text.txt': Buffer.from('a\n\tb\n') },
    'app.db': renamed,
  }
  for (const [path, bytes] of Object.entries(after)) {
    const content = bytes.toString('base64')
    await data.ask((rpc) => rpc.files.write({ session: 'looked-at', path, content, encoding: 'base64' }))
  }
  await window.session('looked-at').click()

  await window.file(/^dot.gif/).click()
  await page.getByText('Swipe', { exact: true }).click()
  const divide = page.getByRole('slider', { name: 'Divide between before and after' })
  await divide.focus()
  await page.keyboard.press('ArrowRight')
  expect(await divide.getAttribute('aria-valuenow')).toBe('52')
  await page.getByText('Difference', { exact: true }).click()
  await page.getByRole('img', { name: '1 pixel differs, 100.0% of the picture' }).waitFor(VISIBLE)

  // By the filter alone, which leaves what is open as it is.
  const filter = page.getByRole('textbox', { name: 'Filter files' })
  await filter.fill('APP')
  await page.getByRole('img', { name: /pixel differs/ }).waitFor(VISIBLE)
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'table users, 1 row changed' }).waitFor(VISIBLE)
  const rows = page.getByRole('table', { name: 'Rows of users that differ' })
  await rows.getByRole('row', { name: 'changed 1 Ada → Grace' }).waitFor(VISIBLE)

  await filter.fill('tool')
  await page.keyboard.press('Enter')
  await page.getByText('first difference at 2 (0x2)').waitFor(VISIBLE)
  await filter.fill('')
  await window.file(/^text.txt/).click()
  await page.getByText('1 change', { exact: true }).waitFor(VISIBLE)
  await page.getByRole('button', { name: 'Ignore white space' }).click()
  await page.getByText('Only white space differs').waitFor(VISIBLE)
}

/** A file that {@link lookAtFiles} left, as it was before. */
export async function saveAsItWas({ page }: Stage): Promise<void> {
  await new MainWindow(page).file(/^tool/).click()
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as it was before' }).click(),
  ])
  expect(saved.suggestedFilename()).toBe('tool')
  expect(readFileSync(await saved.path())).toEqual(Buffer.from([0, 1, 2, 3]))
}

/** The files that differ as a tree, walked and folded by the keyboard alone. */
export async function walkTheChanges({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const session = 'walked'
  const folder = data.folder(session)
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join('')
  writeFileSync(join(folder, 'before.ts'), lines)
  await data.json('init', folder, '--session', session)
  for (const path of ['src/app/lib/one.ts', 'src/app/lib/two.ts', 'src/app/main.ts', 'notes.md'])
    await data.ask((rpc) => rpc.files.write({ session, path, content: 'a\nb\n' }))
  await window.session(session).click()
  await window.file('src/app, 3 files, added').waitFor(VISIBLE)
  await window.files.focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowLeft')
  await window.file(/^lib,/).waitFor({ state: 'hidden' })
  await page.keyboard.press('ArrowRight')
  for (let down = 0; down < 3; down++) await page.keyboard.press('ArrowDown')
  await window.difference('src/app/lib/two.ts').waitFor(VISIBLE)
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
    'Difference of src/app/lib/two.ts',
  )

  await page.getByRole('button', { name: 'Show as tree' }).click()
  await window.file('src/app/lib/two.ts, added, 2 lines added, 0 deleted').waitFor(VISIBLE)

  // A file that moved is one row, and shows what was changed in it.
  await data.json(
    '--session',
    session,
    'exec',
    "mv before.ts src/after.ts && sed -i 's/line 7/line seven/' src/after.ts",
  )
  await window.file('src/after.ts, renamed from before.ts, 1 line added, 1 deleted').click()
  await window.difference('src/after.ts').getByText('line seven').waitFor(VISIBLE)
  expect(await window.file(/before.ts, deleted/).count()).toBe(0)
}

/** A shell in the sandbox, opened by its key and typed into; then a program that another terminal started, watched. */
export async function shellInTheWindow({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await data.json('init', data.folder('shelled'), '--session', 'shelled')
  await window.session('shelled').click()
  await window.now.waitFor(VISIBLE)
  await page.keyboard.press('t')
  const terminal = page.getByRole('textbox', { name: 'Terminal' })
  await terminal.waitFor(VISIBLE)
  await terminal.getByText('$').first().waitFor(VISIBLE)
  // Its size may still be the first guess by then, on a machine that is loaded.
  const sized = 'while [ "$(stty size)" = "24 80" ]; do sleep 0.1; done; stty size'
  await page.keyboard.type(`printf "\\033[32mgreen\\033[0m"; echo; echo typed >typed.txt; ${sized}`)
  await page.keyboard.press('Enter')
  await terminal.getByText('green', { exact: true }).waitFor(VISIBLE)
  // It is as large as its place, not as the first guess.
  await terminal.getByText(/^(?!24 80)\d+ \d+$/).waitFor(VISIBLE)
  expect(await data.json('--session', 'shelled', 'read', 'typed.txt')).toMatchObject({ content: 'typed\n' })

  // Keys that the window has of its own are the terminal's while it is typed into; the way out is its own.
  await page.keyboard.type('r')
  expect(await window.sheet.count()).toBe(0)
  await page.keyboard.press('Control+c')
  await page.keyboard.press('Shift+Escape')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Commands')

  await data.ask((rpc) =>
    rpc.commands.start({
      session: 'shelled',
      id: 'elsewhere',
      command: 'echo "what is your name?"; read name; echo "hello $name"',
      terminal: { columns: 60, rows: 10 },
    }),
  )
  await page.getByRole('option', { name: /what is your name/ }).click()
  await terminal.getByText('what is your name?').waitFor(VISIBLE)
  await terminal.click()
  await page.keyboard.type('you')
  await page.keyboard.press('Enter')
  await terminal.getByText('hello you').waitFor(VISIBLE)
  await page.getByText('exit 0').first().waitFor(VISIBLE)
}

/** What runs is looked at, held still, and ended; another hand's command goes on only when it is let go. */
export async function holdStill({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await data.json('init', data.folder('held'), '--session', 'held')
  const begin = (id: string, command: string) => data.ask((rpc) => rpc.commands.start({ session: 'held', id, command }))
  await begin('ticks', 'while :; do echo x >>ticks; sleep 0.05; done')
  await begin('server', `exec node -e "require('http').createServer((q, s) => s.end('up')).listen(0, '127.0.0.1')"`)
  await window.session('held').click()
  await window.tab('Processes').click()
  const table = page.getByRole('table', { name: 'Processes' })
  await table.getByText('echo x').waitFor(VISIBLE)
  const port = page.getByRole('link', { name: /^Open port \d+$/ })
  await port.waitFor(VISIBLE)
  const answer = await fetch((await port.getAttribute('href')) ?? '')
  expect(await answer.text()).toBe('up')
  expect(await data.json('--session', 'held', 'ports')).toMatchObject({ count: 1, ports: [{ address: '127.0.0.1' }] })

  await page.getByRole('main').getByRole('button', { name: 'Pause', exact: true }).press('Enter')
  await page.getByText('Paused: nothing of this runs').waitFor(VISIBLE)
  await page.getByRole('option', { name: /^held, .*paused/ }).waitFor(VISIBLE)
  const ticks = async () => (await data.ask((rpc) => rpc.files.read({ session: 'held', path: 'ticks' }))).content.length
  const before = await ticks()
  await expect(begin('refused', 'true')).rejects.toThrow(/is paused/)
  expect(await ticks()).toBe(before)
  await page.getByRole('main').getByRole('button', { name: 'Unpause', exact: true }).press('Enter')
  await expect.poll(ticks).toBeGreaterThan(before)

  await table.getByRole('button', { name: /^Stop node/ }).click()
  await page.getByRole('dialog', { name: 'Stop this command?' }).getByRole('button', { name: 'Stop command' }).click()
  await expect.poll(() => table.getByText('node -e').count()).toBe(0)
  await port.waitFor({ state: 'detached' })
  expect(await data.json('--session', 'held', 'stop', 'ticks')).toMatchObject({ status: 'cancelled' })
  await page.getByText('Nothing runs').waitFor(VISIBLE)
}

/** A server in a sandbox without a network is reached from this machine while a person wants that. By the keyboard. */
export async function reachInside({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await data.json('init', data.folder('inside'), '--session', 'inside', '--no-network')
  const serve = (answer: string, id: string) =>
    data.ask((rpc) =>
      rpc.commands.start({
        session: 'inside',
        id,
        command: `exec node -e "require('http').createServer((q, s) => s.end('${answer}')).listen(18125, '127.0.0.1')"`,
      }),
    )
  await serve('up', 'server')
  await window.session('inside').click()
  await window.tab('Processes').click()
  const open = page.getByRole('button', { name: 'Open to this machine: port 18125' })
  await open.focus()
  await page.keyboard.press('Enter')
  const link = page.getByRole('link', { name: 'Open port 18125' })
  await link.waitFor(VISIBLE)
  const url = (await link.getAttribute('href')) ?? ''
  expect(await (await fetch(url)).text()).toBe('up')
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await expect.poll(focused).toBe('Open port 18125')

  await data.ask((rpc) => rpc.timeline.rollback({ session: 'inside', to: 'base', only: null, patchNotes: null }))
  await page.getByText('nothing listens').waitFor(VISIBLE)
  await expect(fetch(url)).rejects.toThrow()
  await serve('up again', 'another')
  await expect.poll(async () => (await fetch(url).catch(() => null))?.text()).toBe('up again')

  await link.focus()
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Close port 18125')
  await page.keyboard.press('Enter')
  await open.waitFor(VISIBLE)
  await expect.poll(focused).toBe('Open to this machine: port 18125')
  await expect(fetch(url)).rejects.toThrow()
}

/** What is saved, read as the page hands it over: each kind of window keeps its downloads elsewhere. */
async function savedBy(page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const saved = page.evaluate(
    () =>
      new Promise<{ name: string; text: string }>((resolve) => {
        const { createObjectURL } = URL
        const { click } = HTMLAnchorElement.prototype
        let blob = new Blob()
        URL.createObjectURL = (given: Blob) => {
          blob = given
          return createObjectURL.call(URL, given)
        }
        HTMLAnchorElement.prototype.click = function () {
          URL.createObjectURL = createObjectURL
          HTMLAnchorElement.prototype.click = click
          click.call(this)
          void blob.text().then((text) => resolve({ name: this.download, text }))
        }
      }),
  )
  await press()
  return saved
}

/** After a run: its ledger searched by the keyboard, the state behind a row, and the run taken away as files. */
export async function afterARun({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  const session = 'audited'
  await data.json('init', data.folder(session), '--session', session)
  await data.json('--session', session, 'checkpoint', 'stable')
  const verifier = { command: 'cat verdict.json', retries: 0, retryDelayMs: 0, timeoutMs: 30_000 }
  await data.ask(async (rpc) => {
    await rpc.rules.autoRollback({ session, on: true, events: ['test_failure'], to: 'stable', verifier })
    for (const verdict of [
      { status: 'fail', summary: 'a test fails' },
      { status: 'pass', summary: 'all is well' },
    ]) {
      await rpc.files.write({ session, path: 'verdict.json', content: JSON.stringify(verdict) })
      await rpc.rules.runTests({ session }).catch(() => {})
    }
  })
  await window.session(session).click()
  await window.now.waitFor(VISIBLE)
  await page.keyboard.press('4')
  await page.getByText('3 rows').waitFor(VISIBLE)
  await page.getByText('chain whole').waitFor(VISIBLE)

  // By keys: to the oldest row, open it, and on to the state that it is about.
  await tabTo(page, ({ role }) => role === 'grid')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  const detail = page.getByRole('region', { name: 'Ledger row' })
  await detail.getByText('Row 1 · verification').waitFor(VISIBLE)
  await detail.getByRole('region', { name: 'Verdict' }).getByText('"status": "fail"').waitFor(VISIBLE)
  await detail.getByText('0'.repeat(64)).waitFor(VISIBLE)
  await page.keyboard.press('g')
  await page.getByRole('option', { name: /fail,.*branch A$/, selected: true }).waitFor(VISIBLE)
  await page.keyboard.press('Escape')
  await detail.waitFor({ state: 'hidden' })

  await page.getByLabel('Event', { exact: true }).selectOption('rollback')
  await page.getByText('1 of 3 rows').waitFor(VISIBLE)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByLabel('Search the ledger').fill('is well')
  await page.getByText('1 of 3 rows').waitFor(VISIBLE)
  await page.getByLabel('Search the ledger').fill('')

  const csv = await savedBy(page, async () => {
    await page.getByRole('button', { name: 'Export…' }).click()
    await page.getByRole('menuitem', { name: 'CSV' }).click()
  })
  expect(csv.name).toBe('audited-ledger.csv')
  expect(csv.text.trim().split('\r\n')).toHaveLength(4)
  const report = await savedBy(page, () => page.getByRole('button', { name: 'Report' }).click())
  expect(report.name).toBe('audited-report.html')
  expect(report.text).toContain('<h2>Timeline and cost</h2>')
  const { head } = await data.ask((rpc) => rpc.ledger.verify({ session }))
  expect(report.text).toContain(head)

  // The window's own sheets: what the machine lacks, how an agent comes in, how the window looks.
  await page.getByRole('button', { name: 'Doctor' }).click()
  await page.getByRole('list', { name: 'Checks' }).getByText('data folder').waitFor(VISIBLE)
  await page.keyboard.press('Escape')
  await expect.poll(() => page.evaluate(focused)).toEqual({ role: 'button', name: 'Doctor' })
  await page.getByRole('button', { name: 'Connect an agent…' }).click()
  await page.getByText('claude mcp add rewind -- rewind mcp').waitFor(VISIBLE)
  const { token } = await data.ask((rpc) => rpc.host.mcp({}))
  await page.getByRole('radio', { name: 'Over HTTP' }).check({ force: true })
  expect(await page.getByText(token).count()).toBe(0)
  await page.getByRole('button', { name: 'Show token' }).click()
  await page.getByText(`Bearer ${token}`).waitFor(VISIBLE)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+,')
  await page.getByRole('radio', { name: 'Dark' }).check({ force: true })
  await page.keyboard.press('Escape')
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
  expect(await theme()).toBe('dark')
  await page.reload()
  await window.sessions.waitFor(VISIBLE)
  expect(await theme()).toBe('dark')
}

/** Somebody in a terminal wants a point to be seen: the window goes there, whatever it shows. */
export async function placeFromTheTerminal({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await data.json('init', data.folder('seen'), '--session', 'seen')
  for (const label of ['one', 'two']) {
    await data.json('--session', 'seen', 'write', 'a.txt', label)
    await data.json('--session', 'seen', 'checkpoint', label)
  }
  await data.json('init', data.folder('looked_at'), '--session', 'looked_at')
  await window.session('looked_at').click()
  await window.now.waitFor(VISIBLE)
  const wanted = await data.ask((rpc) => rpc.host.show({ session: 'seen', at: 'one' }))
  await page.getByRole('option', { name: /^one, checkpoint/, selected: true }).waitFor(VISIBLE)
  expect(wanted.at).toMatch(/-ckpt-1$/)
  await data.ask((rpc) => rpc.host.show({ session: 'seen' }))
  await page.getByRole('option', { name: /^Now/, selected: true }).waitFor(VISIBLE)
}

/** The rules of a session are set in the window by the keyboard alone, and hold in the host; what makes no sense is said. */
export async function rulesInTheWindow({ page, data }: Stage): Promise<void> {
  const window = new MainWindow(page)
  await data.json('init', data.folder('ruled'), '--session', 'ruled')
  await window.session('ruled').click()
  await page.getByRole('button', { name: 'Rules' }).press('Enter')
  const sheet = page.getByRole('dialog', { name: 'Rules' })
  await sheet.getByRole('checkbox', { name: 'Checkpoint before every tool call' }).press('Space')
  await page.keyboard.press('Tab')
  await page.keyboard.type('0')
  await page.keyboard.press('Enter')
  await sheet.getByText('A whole number from 1 on').waitFor(VISIBLE)
  await page.keyboard.press('Backspace')
  await page.keyboard.type('3')
  await sheet.getByRole('checkbox', { name: 'Roll back by itself' }).press('Space')
  await sheet.getByRole('checkbox', { name: 'when the verifier says fail' }).press('Space')
  await sheet.getByRole('textbox', { name: 'Verifier' }).fill('echo \'{"status":"fail","summary":"not yet"}\'')
  await sheet.getByRole('button', { name: 'Try' }).press('Enter')
  await sheet.getByRole('status').getByText('fail not yet').waitFor(VISIBLE)
  await sheet.getByRole('textbox', { name: 'Verifier' }).fill('sleep 300')
  await sheet.getByText('not yet').waitFor({ state: 'detached' })
  await sheet.getByRole('button', { name: 'Try' }).press('Enter')
  await sheet.getByRole('button', { name: 'Stop' }).press('Enter')
  await sheet.getByRole('button', { name: 'Try' }).waitFor(VISIBLE)
  await expect
    .poll(async () => (await data.ask((rpc) => rpc.commands.list({ session: 'ruled' }))).at(-1)?.status)
    .toBe('cancelled')
  await sheet.getByRole('textbox', { name: 'Verifier' }).fill('sh verify.sh')
  await sheet.getByRole('textbox', { name: 'Disk budget' }).fill('0.5')
  await page.keyboard.press('Enter')
  await sheet.waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate(focused)).toEqual({ role: 'button', name: 'Rules' })
  expect(await data.ask((rpc) => rpc.rules.get({ session: 'ruled' }))).toEqual({
    autoCheckpoint: { trigger: 'before_tool_call', keepLast: 3 },
    autoRollback: {
      events: ['exception', 'test_failure'],
      to: 'latest',
      verifier: { command: 'sh verify.sh', retries: 3, retryDelayMs: 2000, timeoutMs: 30_000 },
    },
    retention: { budgetBytes: 500_000_000 },
  })
  await page.getByRole('button', { name: 'Rules' }).press('Enter')
  await sheet.getByRole('textbox', { name: 'Keep the last' }).waitFor(VISIBLE)
  expect(await sheet.getByRole('textbox', { name: 'Keep the last' }).inputValue()).toBe('3')
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
}
