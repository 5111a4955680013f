/** Which page is ours: the one built file, or the development server's. Everything else is refused everywhere. */
import { pathToFileURL } from 'node:url'

/** @param entry the window's page: path of a file, or address of a development server */
export function createPageCheck(entry: { file: string } | { url: string }): (url: string) => boolean {
  if ('file' in entry) {
    const page = pathToFileURL(entry.file)
    return (url) => {
      const asked = URL.parse(url)
      return asked?.protocol === 'file:' && asked.host === '' && asked.pathname === page.pathname
    }
  }
  const { origin } = new URL(entry.url)
  return (url) => URL.parse(url)?.origin === origin
}

/** Addresses that a person's browser may be sent to: the web's, and no scheme that starts a program. */
export function isWebAddress(url: string): boolean {
  const { protocol, username } = URL.parse(url) ?? { protocol: '', username: '' }
  return (protocol === 'https:' || protocol === 'http:') && username === ''
}
