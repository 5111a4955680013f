/**
 * How a browser that signed in shows itself when it opens the line to the host. Not by a cookie: those are sent to every
 * port of this machine, also to the server that an agent runs in its sandbox. A page's own storage knows ports, and a
 * WebSocket of a page can carry no header but the names of its subprotocols.
 */

/** The subprotocol that is spoken, and answered; the key is never. */
const LINE = 'rewind'
const KEY = 'rewind.key.'

/** What the page offers. @param key as the host gave it out for a code; null where it has none */
export const offeredWith = (key: string | null): string[] => (key === null ? [LINE] : [LINE, `${KEY}${key}`])

/** @param header `Sec-WebSocket-Protocol` as it came */
export function keyOffered(header: string | undefined): string | null {
  const offered = (header ?? '').split(',').map((name) => name.trim())
  return offered.find((name) => name.startsWith(KEY))?.slice(KEY.length) ?? null
}
