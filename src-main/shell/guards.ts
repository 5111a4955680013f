/**
 * What a page may not do, whatever gets into it: go elsewhere, open windows, embed other pages, ask for devices. Links
 * go to the person's own browser, and only right after that person pressed something.
 */
import { type App, type Session, shell, type WebContents } from 'electron'
import { isWebAddress } from './our-page.ts'

/** So long after a key or a mouse button a link counts as followed by the person. */
const GESTURE_MS = 1_000

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Components set styles in place; without foreign scripts that gives nothing away.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "worker-src 'self'",
  // The host is reached by a message port: nothing is to be fetched but the window's own files.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Applies to every page the app will ever hold, also to one that should not have come to be. */
export function guardAllPages(app: App, isOurPage: (url: string) => boolean): void {
  app.on('web-contents-created', (_event, contents) => guardPage(contents, isOurPage))
}

function guardPage(contents: WebContents, isOurPage: (url: string) => boolean): void {
  let pressedAt = Number.NEGATIVE_INFINITY
  const pressed = () => {
    pressedAt = Date.now()
  }
  contents.on('before-input-event', pressed)
  contents.on('before-mouse-event', (_event, mouse) => {
    if (mouse.type === 'mouseDown' || mouse.type === 'mouseUp') pressed()
  })
  contents.setWindowOpenHandler(({ url }) => {
    if (isWebAddress(url) && Date.now() - pressedAt < GESTURE_MS) void shell.openExternal(url)
    return { action: 'deny' }
  })
  contents.on('will-navigate', (event) => {
    if (!isOurPage(event.url)) event.preventDefault()
  })
  contents.on('will-redirect', (event) => {
    if (!isOurPage(event.url)) event.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
}

/**
 * Refuses all permissions and sends the content security policy.
 * @param headers false for a development server, whose hot reloading the policy would break
 */
export function guardSession(session: Session, headers: boolean): void {
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
  if (!headers) return
  // The page carries a policy of its own too, for platforms where files have no headers.
  session.webRequest.onHeadersReceived(({ responseHeaders }, answer) =>
    answer({ responseHeaders: { ...responseHeaders, 'Content-Security-Policy': [POLICY] } }),
  )
}
