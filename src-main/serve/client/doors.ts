/**
 * The addresses on the local socket. Whoever opens one says there as whom it comes, once and for all: an agent's
 * connection never becomes a person's.
 */

/** What a person gave to one agent's connection. */
export interface Grants {
  /** Folders below which it may begin sessions, beside those allowed to all. */
  allow: readonly string[]
  /** Names or ids of sessions that are open to it. */
  sessions: readonly string[]
  /** A person sits at its program, and may be asked for decisions through it. */
  elicit?: boolean
}

/** @param grants an agent's; null for a person's connection */
export function doorFor(grants: Grants | null): string {
  if (!grants) return '/rpc'
  const asked = new URLSearchParams()
  for (const path of grants.allow) asked.append('allow', path)
  for (const session of grants.sessions) asked.append('session', session)
  if (grants.elicit) asked.append('elicit', '1')
  return `/rpc/agent?${asked}`
}

/** What {@link doorFor} wrote; null for any other address. */
export function doorOf(url: string): { grants: Grants | null } | null {
  const [path, asked = ''] = url.split('?', 2)
  if (path === '/rpc') return { grants: null }
  if (path !== '/rpc/agent') return null
  const values = new URLSearchParams(asked)
  const elicit = values.get('elicit') === '1'
  return {
    grants: { allow: values.getAll('allow'), sessions: values.getAll('session'), ...(elicit ? { elicit } : {}) },
  }
}
