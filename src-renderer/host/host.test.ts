import { expect, test } from 'vitest'
import type { Point } from '../../src-main/contract/index.ts'
import { createHost } from './host.ts'
import type { Rpc } from './link.ts'

/** A host that never answers. */
const silent = (): Rpc =>
  new Proxy(() => new Promise(() => {}), {
    get: (_, name) => (name === 'then' ? undefined : silent()),
  }) as unknown as Rpc

test('a sheet that is open goes with the session that it was opened over', () => {
  const host = createHost({ rpc: silent(), pickFolder: null, onState: () => {} })
  host.start()
  host.sessions.open('a')
  // Every session has a point of this id.
  host.rewind.ask({ id: 'base' } as Point)
  expect(host.rewind.getState().sheet).not.toBeNull()
  host.sessions.open('b')
  expect([host.session.getState().id, host.rewind.getState().sheet]).toEqual(['b', null])
})
