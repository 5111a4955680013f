/** How an agent is let in: the line or the settings for each client that is known, to copy. */
import { type ReactNode, useState } from 'react'
import type { RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { CopyLine } from '../elements/copy.tsx'
import { CopyBlock } from '../elements/copy-block.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { Segments } from '../elements/segments.tsx'
import { Words } from '../elements/words.tsx'
import { useConnection, useHost } from '../host/context.ts'
import { CLIENTS, type Client, insideOf, isSetUp, snippetOf, toolsOff, type Way } from './snippets.ts'

export function ConnectSheet({ close }: { close(): void }) {
  const [client, setClient] = useState<Client>('claude')
  const [way, setWay] = useState<Way>('stdio')
  const address = useConnection((connection) => connection.info?.mcp ?? null)
  const door = useToken()
  const title = CLIENTS.find((one) => one.client === client)?.title ?? ''
  const snippet = snippetOf(client, way, {
    url: door.shown?.url ?? address ?? 'http://127.0.0.1:PORT/mcp',
    token: door.shown?.token ?? 'TOKEN',
  })
  const inside = insideOf(client)
  return (
    <Dialog title="Connect an agent" onClose={close} width="w-160">
      <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5">
        <div className="flex flex-wrap gap-2">
          <Segments label="Client" value={client} onChange={setClient} choices={CHOICES} />
        </div>
        {inside ? (
          <Step title="Inside the sandbox, whole: its own tools can be undone, too">
            <CopyLine text={inside} />
          </Step>
        ) : null}
        {isSetUp(client) ? (
          <Step title="Or over MCP: tools for it, and a point at each of its turns">
            <CopyLine text={`rewind setup ${client}`} />
          </Step>
        ) : null}
        <Step title={isSetUp(client) ? 'Or by hand' : 'Over MCP'}>
          <div className="flex items-center gap-3">
            <Segments
              label="Way in"
              value={way}
              onChange={setWay}
              choices={[
                { value: 'stdio', text: 'As a command' },
                { value: 'http', text: 'Over HTTP' },
              ]}
            />
            <span className="min-w-0 truncate text-small text-ink-2">
              {snippet.file ? (
                <>
                  in <code className="font-mono text-code select-text">{snippet.file}</code>
                </>
              ) : client === 'other' ? (
                ''
              ) : (
                'in a terminal'
              )}
            </span>
          </div>
          <CopyBlock text={snippet.text} name={`what ${title} needs`} />
          {way === 'http' ? <Token door={door} /> : null}
        </Step>
        <p className="text-small text-ink-2">
          <Words>{toolsOff(client)}</Words>
        </p>
        <p className="text-small text-ink-2">
          <Words>
            {
              'Where it wants a folder that no session was begun in, you are asked here; `rewind allow FOLDER` does so beforehand.'
            }
          </Words>
        </p>
      </div>
      <footer className="flex justify-end px-5 py-4">
        <Button look="main" data-focus-first onClick={close}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

const CHOICES = CLIENTS.map(({ client, title }) => ({ value: client, text: title }))

function Step({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-1.5">
      <h3 className="text-small font-medium">{title}</h3>
      {children}
    </section>
  )
}

interface TokenDoor {
  /** null until a person asks to see it. */
  shown: { url: string; token: string } | null
  busy: boolean
  problem: RewindError | null
  ask(renew: boolean): Promise<void>
  hide(): void
}

function useToken(): TokenDoor {
  const { rpc } = useHost()
  const [shown, setShown] = useState<TokenDoor['shown']>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const ask = async (renew: boolean) => {
    setBusy(true)
    setProblem(null)
    try {
      const { url, token } = await rpc.host.mcp({ renew })
      setShown({ url: url ?? 'http://127.0.0.1:PORT/mcp', token })
    } catch (error) {
      setProblem(fromRpcError(error))
    } finally {
      setBusy(false)
    }
  }
  return { shown, busy, problem, ask, hide: () => setShown(null) }
}

/** Whoever has it may do what an agent may: it is shown when asked for, and made anew after a question. */
function Token({ door }: { door: TokenDoor }) {
  const [sure, setSure] = useState(false)
  if (sure)
    return (
      <div role="alertdialog" aria-label="Renew the token?" className="flex flex-wrap items-center gap-2 text-small">
        <span className="min-w-0 flex-1">
          Agents with the present token are refused at once, until they have the new one.
        </span>
        <Button autoFocus onClick={() => setSure(false)}>
          Keep it
        </Button>
        <Button
          busy={door.busy}
          onClick={() => {
            void door.ask(true).then(() => setSure(false))
          }}
        >
          Renew token
        </Button>
      </div>
    )
  return (
    <>
      <div className="flex items-center gap-2">
        {door.shown ? (
          <Button onClick={door.hide}>Hide token</Button>
        ) : (
          <Button busy={door.busy} disabled={door.busy} onClick={() => void door.ask(false)}>
            Show token
          </Button>
        )}
        <Button onClick={() => setSure(true)}>Renew token…</Button>
      </div>
      {door.problem ? <ProblemLine message={door.problem.message} nextStep={door.problem.nextStep} /> : null}
    </>
  )
}
