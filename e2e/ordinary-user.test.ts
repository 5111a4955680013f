/** The main job without root: sandboxes from user namespaces, and a browser inside its own sandbox. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launchBrowser, show } from './browser.ts'
import { chromiumFlags } from './chromium-flags.ts'
import { TestHost } from './host.ts'
import { rewindAndUndo, watchTheDemo } from './journeys.ts'
import { suiteNeeding } from './needs.ts'

suiteNeeding(['browser', 'userns'], 'the window of an ordinary user', () => {
  let host: TestHost

  beforeEach(async () => {
    host = await TestHost.begin()
  })
  afterEach(() => host?.end())

  test('the demo, then a rewind by hand and its undo', async () => {
    expect(chromiumFlags()).not.toContain('--no-sandbox')
    const browser = await launchBrowser()
    try {
      const page = await browser.newPage()
      await show(page, () => host.browserUrl())
      await watchTheDemo({ page, data: host })
      await rewindAndUndo({ page, data: host })
      const [session] = await host.ask((rpc) => rpc.sessions.list())
      expect(session?.engineDetail).toBe('user namespaces')
    } finally {
      await browser.close()
    }
  })
})
