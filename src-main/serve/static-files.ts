/**
 * The built window, as files over HTTP. A request is looked up in the list of what lies in the folder and
 * never becomes a path, so there is nothing to climb out of.
 */
import { createReadStream, readdirSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, relative, sep } from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

const RELIST_MS = 1_000

export type StaticFiles = (path: string, request: IncomingMessage, response: ServerResponse) => boolean

/**
 * @param folder the built renderer; where it is missing nothing is served
 * @param policy Content-Security-Policy of every answer
 * @returns a handler that answers a known path and says whether it did
 */
export function serveFolder(folder: string, policy: string): StaticFiles {
  let files = listFiles(folder)
  let listedAt = Date.now()
  const find = (name: string) => {
    // A window that was built anew under a running host has other names.
    if (!files.has(name) && Date.now() - listedAt > RELIST_MS) {
      files = listFiles(folder)
      listedAt = Date.now()
    }
    return files.get(name)
  }
  return (path, request, response) => {
    const name = path === '/' ? '/index.html' : path
    const file = find(name)
    if (file === undefined) return false
    const type = types[extname(file)] ?? 'application/octet-stream'
    response.writeHead(200, {
      'content-type': type,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      // Assets carry a hash in their names; the page that names them must always be today's.
      'cache-control': name.startsWith('/assets/') ? 'private, max-age=31536000, immutable' : 'no-store',
    })
    if (request.method === 'HEAD') response.end()
    else
      createReadStream(file)
        .on('error', () => response.destroy())
        .pipe(response)
    return true
  }
}

function listFiles(folder: string): Map<string, string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    return new Map(
      entries
        .filter((entry) => entry.isFile() && extname(entry.name) !== '.map')
        .map((entry) => join(entry.parentPath, entry.name))
        .map((file) => [`/${relative(folder, file).split(sep).join('/')}`, file]),
    )
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
}
