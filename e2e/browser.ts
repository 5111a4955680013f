/** Real Chromium for the browser journeys: one per test file, a context (its own storage) per person. */
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import { chromiumFlags } from './chromium-flags.ts'
import { chromium } from './parts.ts'

export async function launchBrowser(): Promise<Browser> {
  const executablePath = chromium()
  if (executablePath === undefined) throw new Error('There is no Chromium; wrap the suite in suiteNeeding([browser])')
  return playwright.launch({ executablePath, headless: true, args: chromiumFlags() })
}

const DRAWN_MS = 15_000
const TRIES = 4

/**
 * Shows the window. Chromium drops what it loads while a network of docker's comes or goes: then it is loaded again.
 * @param address asked for anew each time, as it may hold a code that is good for one time only
 */
export async function show(page: Page, address: () => string | Promise<string>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await page.goto(await address())
      await page.locator('#root > *').first().waitFor({ timeout: DRAWN_MS })
      return
    } catch (error) {
      if (tries === TRIES) throw error
    }
  }
}
