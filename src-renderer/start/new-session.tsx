/** Begin a session on a folder: by the platform's dialog where there is one, else by its path. */
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import type { RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { useHost } from '../host/context.ts'
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

export function useBegin(): Begin {
  const { sessions, pickFolder } = useHost()
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<RewindError | null>(null)

  async function begin(workspace: string, name: string, create = false): Promise<boolean> {
    setBusy(true)
    setProblem(null)
    try {
      await sessions.create({ workspace, name, explicit: true, create })
      return true
    } catch (error) {
      setProblem(fromRpcError(error))
      return false
    } finally {
      setBusy(false)
    }
  }

  async function pick(): Promise<void> {
    const folder = await pickFolder?.()
    if (folder) await begin(folder, nameFor(folder))
  }

  return {
    label: pickFolder ? 'Open a folder…' : 'New session…',
    start: () => (pickFolder ? void pick() : setAsking(true)),
    busy,
    problem: asking ? null : problem,
    dialog: asking ? (
      <NewSession
        busy={busy}
        problem={problem}
        begin={(workspace, name, create) =>
          void begin(workspace, name, create).then((done) => done && setAsking(false))
        }
        close={() => {
          setAsking(false)
          setProblem(null)
        }}
      />
    ) : null,
  }
}

interface NewSessionProps {
  busy: boolean
  problem: RewindError | null
  begin(workspace: string, name: string, create: boolean): void
  close(): void
}

/** A folder that is not there can be made: the terminal has an option for it, and that is what the error speaks of. */
const isMissing = ({ code, nextStep }: RewindError): boolean =>
  code === 'INVALID_PATH' && nextStep?.includes('--create') === true

function NewSession({ busy, problem, begin, close }: NewSessionProps) {
  const [workspace, setWorkspace] = useState('')
  const [name, setName] = useState<string | null>(null)
  const folderId = useId()
  const nameId = useId()
  const absolute = /^(\/|[A-Za-z]:[\\/])/.test(workspace.trim())
  const shownName = name ?? (workspace.trim() ? nameFor(workspace.trim()) : '')
  const [tried, setTried] = useState('')
  const missing = problem !== null && isMissing(problem) && tried === workspace.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!absolute || !shownName) return
    setTried(workspace.trim())
    begin(workspace.trim(), shownName, missing)
  }
  const field = 'h-8 w-full rounded-md border border-line-strong bg-base px-2.5 select-text placeholder:text-ink-3'
  return (
    <Dialog title="New session" onClose={close} width="w-112">
      <form onSubmit={submit} className="flex flex-col gap-3 px-5 pb-4">
        <div>
          <label htmlFor={folderId} className="mb-1 block text-small text-ink-2">
            Folder on this machine
          </label>
          <input
            id={folderId}
            data-focus-first
            spellCheck={false}
            value={workspace}
            onChange={(event) => setWorkspace(event.target.value)}
            placeholder="/home/you/project"
            className={`font-mono text-code ${field}`}
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
            className={field}
          />
        </div>
        {problem ? (
          <ProblemLine
            message={problem.message}
            nextStep={isMissing(problem) ? 'Check the path, or have the folder made.' : problem.nextStep}
          />
        ) : null}
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={close}>Cancel</Button>
          <Button look="main" type="submit" busy={busy} disabled={!absolute || !shownName || busy}>
            {missing ? 'Make the folder and start' : 'Start session'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
