/**
 * The line to the host: a message port that the Electron preload hands over, or a WebSocket in a browser. This is
 * the only module that knows which of the two it is; the rest of the window sees typed calls and a connection state.
 */
import { createORPCClient } from '@orpc/client'
import { RPCLink as PortLink } from '@orpc/client/message-port'
import { RPCLink as SocketLink } from '@orpc/client/websocket'
import type { ContractRouterClient } from '@orpc/contract'
import type { contract } from '../../src-main/contract/index.ts'
import { offeredWith } from '../../src-main/contract/sign-in.ts'
import { jsonSerializers } from '../../src-main/contract/wire.ts'
import { guarded } from './away.ts'
import { type Remembered, remembered } from './remembered.ts'
import { ReconnectingSocket, type SocketState } from './socket.ts'

export type Rpc = ContractRouterClient<typeof contract>

/** Why the host would not have this browser: what it said, and what to do about it. */
export interface Refusal {
  message: string
  nextStep: string
}

export interface Link {
  rpc: Rpc
  /** The platform's folder dialog; null where there is none. */
  pickFolder: (() => Promise<string | null>) | null
  /** Tells state changes of the line, the present one first. */
  onState(listener: (state: SocketState, refusal: Refusal | null) => void): void
}

declare global {
  interface Window {
    rewindShell?: { kind: 'electron'; pickFolder(): Promise<string | null> }
  }
}

export const connect = (): Link => (window.rewindShell ? overPort(window.rewindShell.pickFolder) : overSocket())

/** A link over one end of a message channel whose other end a host serves. */
export function overChannel(port: MessagePort, pickFolder: Link['pickFolder'] = null): Link {
  port.start()
  return {
    rpc: createORPCClient(new PortLink({ port, customJsonSerializers: jsonSerializers })),
    pickFolder,
    onState: (listener) => listener('open', null),
  }
}

function overPort(pickFolder: () => Promise<string | null>): Link {
  const { port1, port2 } = new MessageChannel()
  // A page from file:// has the origin 'null', which postMessage does not take as a target.
  window.postMessage('rewind:rpc-port', location.origin === 'null' ? '*' : location.origin, [port2])
  return overChannel(port1, pickFolder)
}

const NOT_SIGNED_IN: Refusal = {
  message: 'This browser is not signed in.',
  nextStep: 'Run `rewind open` in a terminal: it opens this window with a fresh sign-in.',
}

function overSocket(): Link {
  const listeners = new Set<Parameters<Link['onState']>[0]>()
  let state: SocketState = 'connecting'
  let refusal: Refusal | null = null
  const tell = (next: SocketState) => {
    state = next
    if (next === 'open') refusal = null
    for (const listener of listeners) listener(state, next === 'refused' ? (refusal ?? NOT_SIGNED_IN) : null)
  }
  const scheme = location.protocol === 'https:' ? 'wss' : 'ws'
  // Made once the single-use code was exchanged: before that the socket would be refused.
  const key = remembered('key')
  const link = redeemCode(key).then((problem) => {
    refusal = problem
    const websocket = new ReconnectingSocket(`${scheme}://${location.host}/rpc`, {
      onState: tell,
      // Asked anew each time: another page may have signed this browser in meanwhile.
      open: (url) => new WebSocket(url, offeredWith(key.get())),
      hostAnswers: async () => (await fetch('/', { method: 'HEAD', cache: 'no-store' })).status > 0,
    })
    return new SocketLink({ websocket, customJsonSerializers: jsonSerializers })
  })
  return {
    rpc: createORPCClient({
      call: guarded(
        async (path, input, options) =>
          (await link).call(path, input, options as Parameters<SocketLink<object>['call']>[2]),
        () => state === 'lost',
      ),
    }),
    pickFolder: null,
    onState: (listener) => {
      listeners.add(listener)
      listener(state, refusal)
    },
  }
}

/** Exchanges the code in the address's hash for a key, and takes it out of the address. */
async function redeemCode(key: Remembered): Promise<Refusal | null> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (!code) return null
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const answer = await fetch('/auth', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    })
    const said = (await answer.json()) as Partial<Refusal> & { key?: string }
    if (answer.ok) {
      key.set(said.key ?? '')
      return null
    }
    return { message: said.message ?? NOT_SIGNED_IN.message, nextStep: said.nextStep ?? NOT_SIGNED_IN.nextStep }
  } catch {
    return null
  }
}
