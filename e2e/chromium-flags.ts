/** How tests start Chromium: no first-run pages, nothing fetched, and its sandbox wherever it can be had. */
import { have } from './parts.ts'

export function chromiumFlags(): string[] {
  return [
    ...(have('userns').ok ? [] : ['--no-sandbox']),
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-extensions',
    '--disable-default-apps',
  ]
}
