/** What a person sees before there is a session: what this is, the demo, and how to begin. */
import { Bot, FolderOpen, Play } from 'lucide-react'
import { useState } from 'react'
import type { RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { CopyLine } from '../elements/copy.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { useHost } from '../host/context.ts'
import { openSheet } from '../sheets/sheets-store.ts'
import { Illustration } from './illustration.tsx'
import { useBegin } from './new-session.tsx'

export function Start() {
  const { sessions } = useHost()
  const [state, setState] = useState<'idle' | 'starting' | RewindError>('idle')
  const begin = useBegin()
  const watch = () => {
    setState('starting')
    sessions.demo().catch((error) => setState(fromRpcError(error)))
  }
  return (
    <main className="flex h-full items-center justify-center overflow-y-auto p-8">
      <div className="grid w-full max-w-180 grid-cols-[minmax(0,1fr)_auto] items-center gap-12 max-lg:grid-cols-1">
        <div className="flex flex-col gap-6">
          <div className="flex flex-col gap-2">
            <h1 className="text-hero font-semibold tracking-tight text-balance">
              Let agents try things. Take any of it back.
            </h1>
            <p className="max-w-100 text-ink-2">
              An agent works on your project in a sandbox. Files and conversation go back together, to any point, in one
              step.
            </p>
          </div>
          <div className="flex flex-wrap gap-2">
            <Button look="main" tall busy={state === 'starting'} icon={<Play size={14} />} onClick={watch}>
              Watch the demo
            </Button>
            <Button tall icon={<FolderOpen size={14} />} busy={begin.busy} onClick={begin.start}>
              {begin.label}
            </Button>
            <Button tall look="quiet" icon={<Bot size={14} />} onClick={() => openSheet('connect')}>
              Connect an agent…
            </Button>
          </div>
          {typeof state === 'object' ? <ProblemLine message={state.message} nextStep={state.nextStep} /> : null}
          {begin.problem ? <ProblemLine message={begin.problem.message} nextStep={begin.problem.nextStep} /> : null}
          <div className="flex max-w-100 flex-col gap-1.5">
            <p className="text-small text-ink-2">Or begin in your project’s folder, in a terminal</p>
            <CopyLine text="rewind init ." />
          </div>
        </div>
        <Illustration />
      </div>
      {begin.dialog}
    </main>
  )
}
