/** Begin a session on a folder: where the platform has a dialog for it, the folder is picked there first. */
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { EnginesOffer, ImageProgress, RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { useHost } from '../host/context.ts'
import { AS_IT_COMES, type ChosenEngine, EngineFields, obstacle, wishOf } from './engine-choice.tsx'
import { Making } from './making.tsx'
import { nameFor } from './name-for.ts'

export interface Begin {
  /** What the button that begins says. */
  label: string
  start(): void
  busy: boolean
  problem: RewindError | null
  /** To be drawn wherever the button is. */
  dialog: ReactNode
}

interface Wanted {
  workspace: string
  name: string
  create: boolean
  engine: ChosenEngine
}

export function useBegin(): Begin {
  const { rpc, sessions, pickFolder } = useHost()
  /** The folder that the form begins with; null while it is not open. */
  const [asking, setAsking] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [making, setMaking] = useState<ImageProgress | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  const stop = useRef<AbortController | null>(null)

  async function begin({ workspace, name, create, engine }: Wanted): Promise<void> {
    const stopped = new AbortController()
    stop.current = stopped
    setBusy(true)
    setProblem(null)
    try {
      const wish = wishOf(engine)
      if (wish.engine === 'docker') {
        // It is not taken up where the line was lost: that would begin it anew, unasked.
        const options = { signal: stopped.signal, context: { retry: 0 } }
        for await (const progress of await rpc.engines.image({ name: wish.image ?? null }, options)) setMaking(progress)
      }
      setMaking(null)
      if (stopped.signal.aborted) return
      await sessions.create({ workspace, name, explicit: true, create, ...wish })
      setAsking(null)
    } catch (error) {
      if (!stopped.signal.aborted) setProblem(fromRpcError(error))
    } finally {
      setMaking(null)
      setBusy(false)
    }
  }

  async function pick(): Promise<void> {
    const folder = await pickFolder?.()
    if (folder) setAsking(folder)
  }

  return {
    label: pickFolder ? 'Open a folder…' : 'New session…',
    start: () => (pickFolder ? void pick() : setAsking('')),
    busy,
    problem: asking === null ? problem : null,
    dialog:
      asking === null ? null : (
        <NewSession
          folder={asking}
          busy={busy}
          making={making}
          problem={problem}
          begin={(wanted) => void begin(wanted)}
          stop={() => stop.current?.abort()}
          close={() => {
            stop.current?.abort()
            setAsking(null)
            setProblem(null)
          }}
        />
      ),
  }
}

interface NewSessionProps {
  folder: string
  busy: boolean
  /** How far the image is that has to be made first; null while none is being made. */
  making: ImageProgress | null
  problem: RewindError | null
  begin(wanted: Wanted): void
  /** Calls off what is under way. */
  stop(): void
  close(): void
}

/** A folder that is not there can be made: the terminal has an option for it, and that is what the error speaks of. */
const isMissing = ({ code, nextStep }: RewindError): boolean =>
  code === 'INVALID_PATH' && nextStep?.includes('--create') === true

const FIELD = 'h-8 w-full rounded-md border border-line-strong bg-base px-2.5 select-text placeholder:text-ink-3'

function NewSession({ folder, busy, making, problem, begin, stop, close }: NewSessionProps) {
  const offer = useOffer()
  const [workspace, setWorkspace] = useState(folder)
  const [name, setName] = useState<string | null>(null)
  const [engine, setEngine] = useState(AS_IT_COMES)
  const folderId = useId()
  const nameId = useId()
  const absolute = /^(\/|[A-Za-z]:[\\/])/.test(workspace.trim())
  const shownName = name ?? (workspace.trim() ? nameFor(workspace.trim()) : '')
  const [tried, setTried] = useState('')
  const missing = problem !== null && isMissing(problem) && tried === workspace.trim()
  const ready = absolute && shownName !== '' && !busy && obstacle(offer, engine.engine) === null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!ready) return
    setTried(workspace.trim())
    begin({ workspace: workspace.trim(), name: shownName, create: missing, engine })
  }
  return (
    <Dialog title="New session" onClose={close} width="w-112">
      <form onSubmit={submit} className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5 pb-4">
        <fieldset disabled={busy} className="flex flex-col gap-3">
          <div>
            <label htmlFor={folderId} className="mb-1 block text-small text-ink-2">
              Folder on this machine
            </label>
            <input
              id={folderId}
              data-focus-first={folder === '' || undefined}
              spellCheck={false}
              value={workspace}
              onChange={(event) => setWorkspace(event.target.value)}
              placeholder="/home/you/project"
              className={`font-mono text-code ${FIELD}`}
            />
          </div>
          <div>
            <label htmlFor={nameId} className="mb-1 block text-small text-ink-2">
              Name
            </label>
            <input
              id={nameId}
              spellCheck={false}
              maxLength={64}
              value={shownName}
              onChange={(event) => setName(event.target.value)}
              className={FIELD}
            />
          </div>
          <EngineFields offer={offer} chosen={engine} field={FIELD} onChange={setEngine} />
        </fieldset>
        {making ? <Making {...making} /> : null}
        {problem ? (
          <ProblemLine
            message={problem.message}
            nextStep={isMissing(problem) ? 'Check the path, or have the folder made.' : problem.nextStep}
          />
        ) : null}
        <div className="flex justify-end gap-2 pt-1">
          {making ? <Button onClick={stop}>Stop</Button> : <Button onClick={close}>Cancel</Button>}
          <Button look="main" type="submit" data-focus-first={folder !== '' || undefined} busy={busy} disabled={!ready}>
            {missing ? 'Make the folder and start' : 'Start session'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** What there is to choose from; null until it is known. Where it cannot be asked for, the session's start says why. */
function useOffer(): EnginesOffer | null {
  const { rpc } = useHost()
  const [offer, setOffer] = useState<EnginesOffer | null>(null)
  useEffect(() => {
    let gone = false
    rpc.engines.offer().then(
      (found) => gone || setOffer(found),
      () => {},
    )
    return () => {
      gone = true
    }
  }, [rpc])
  return offer
}
