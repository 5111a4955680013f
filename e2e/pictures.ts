/**
 * Takes pictures of the main screens, from the real demo on a real host, to be looked at after a change of the window:
 *
 *     node e2e/pictures.ts [FOLDER]     (default e2e/pictures)
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { TestHost } from './host.ts'
import { connect } from './mcp-clients.ts'
import { MainWindow } from './pages/main-window.ts'

const SIZES = [
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
]
const SCHEMES = ['light', 'dark'] as const

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, 'pictures'))
mkdirSync(folder, { recursive: true })

const host = await TestHost.begin()
const browser = await launchBrowser()
try {
  const page = await browser.newPage({ viewport: SIZES[0] ?? null, reducedMotion: 'reduce' })
  await page.goto(await host.browserUrl())
  const window = new MainWindow(page)
  await window.watchDemo.waitFor()
  await take(page, 'empty')

  await window.watchDemo.click()
  await window.story.getByText('Your turn').waitFor({ timeout: 60_000 })
  await take(page, 'demo-now')
  await window.point(/fail,.*branch A$/).click()
  await window.files.getByRole('treeitem').first().click()
  await window.difference('auth.py').waitFor()
  await take(page, 'broken-write')
  await window.now.click()
  for (const tab of ['Messages', 'Output', 'Ledger'] as const) {
    await window.tab(tab).click()
    await take(page, tab.toLowerCase())
  }

  await page.keyboard.press('t')
  await page.getByRole('textbox', { name: 'Terminal' }).getByText('$').first().waitFor()
  await page.keyboard.type('ls -la --color && git status')
  await page.keyboard.press('Enter')
  await page.waitForTimeout(500)
  await take(page, 'shell')
  await page.keyboard.type('exit')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Shift+Escape')

  const { name } = (await host.ask((rpc) => rpc.sessions.list()))[0] ?? { name: '' }
  await host.json('--session', name, 'exec', 'echo draft > notes.txt; echo more >> README.md; rm -f verify.sh')
  await host.json('--session', name, 'checkpoint', 'wandered off')
  await window.point(/^stable, checkpoint/).click()
  await window.tab('Changes').click()
  await page.keyboard.press('r')
  await window.sheet.getByText('notes.txt').waitFor()
  await take(page, 'rewind-sheet')
  await window.sheet.getByRole('button', { name: 'Rewind', exact: true }).click()
  await window.toast.waitFor()
  await take(page, 'rewound')

  const shop = host.folder('shop')
  await host.json('init', shop, '--session', 'to_commit')
  for (const name of ['README.md', 'app.py']) writeFileSync(join(shop, name), 'a person was here too\n')
  const work =
    'echo an agent >README.md; echo an agent >app.py; mkdir tests; echo 1 >tests/test_app.py; ln -s /etc/hosts hosts'
  await host.json('--session', 'to_commit', 'exec', work)
  await window.session('to_commit').click()
  await window.now.waitFor()
  await window.button('Commit to workspace').click()
  await window.commitSheet.getByText('in the way').waitFor()
  await take(page, 'commit-sheet')
  await window.commitSheet.getByRole('button', { name: 'Commit to workspace' }).click()
  await window.commitSheet.getByRole('heading', { name: 'Committed' }).waitFor()
  await take(page, 'committed')
  await page.keyboard.press('Escape')

  await host.json('init', host.folder('long-run'), '--session', 'long_run')
  await host.json('--session', 'long_run', 'auto-checkpoint')
  for (let turn = 1; turn <= 40; turn++) {
    await host.json('--session', 'long_run', 'exec', '--as-tool', `echo ${turn} >> log.txt`)
    if (turn % 10 === 0) await host.json('--session', 'long_run', 'checkpoint', `milestone ${turn / 10}`)
  }
  await window.session('long_run').click()
  await window.point(/^milestone 4/).waitFor()
  await take(page, 'long-run')

  await window.share.click()
  const agent = await connect('2025 over stdin', host, { name: 'opencode' })
  const asked = agent.call('init_sandbox', { path: host.folder('another-project') })
  await window.folderRequest.waitFor()
  await take(page, 'folder-request')
  await window.folderRequest.getByRole('button', { name: 'Refuse' }).click()
  await asked
  await agent.close()
} finally {
  await browser.close()
  await host.end()
}

/** One screen in every size and scheme. */
async function take(page: Page, name: string): Promise<void> {
  for (const size of SIZES) {
    await page.setViewportSize(size)
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const file = join(folder, `${name}-${size.width}x${size.height}-${colorScheme}.png`)
      await page.screenshot({ path: file, animations: 'disabled' })
      console.log(file)
    }
  }
}
