/** Real Chromium for the browser journeys: one per test file, a context (its own cookies) per person. */
import { type Browser, chromium as playwright } from 'playwright-core'
import { chromiumFlags } from './chromium-flags.ts'
import { chromium } from './parts.ts'

export async function launchBrowser(): Promise<Browser> {
  const executablePath = chromium()
  if (executablePath === undefined) throw new Error('There is no Chromium; wrap the suite in suiteNeeding([browser])')
  return playwright.launch({ executablePath, headless: true, args: chromiumFlags() })
}
