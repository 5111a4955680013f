/**
 * An agent wants to work in a folder that nobody has allowed: asked in a card that takes neither focus nor keys from
 * what a person is doing, and stays until they decide.
 */
import { FolderLock } from 'lucide-react'
import { useId } from 'react'
import { useStore } from 'zustand'
import type { FolderRequest } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Button } from '../elements/button.tsx'
import { count } from '../elements/format.ts'
import { ProblemLine } from '../elements/problem.tsx'
import { Name } from '../elements/text.tsx'
import { useHost } from '../host/context.ts'

export function FolderRequests() {
  const { folderRequests } = useHost()
  const [first, ...others] = useStore(folderRequests, (state) => state.waiting)
  return <div role="alert">{first ? <Question key={first.id} request={first} behind={others.length} /> : null}</div>
}

function Question({ request: { id, client, path }, behind }: { request: FolderRequest; behind: number }) {
  const { folderRequests } = useHost()
  const answering = useStore(folderRequests, (state) => state.answering !== null)
  const problem = useStore(folderRequests, (state) => state.problem)
  const titleId = useId()
  const answer = (allow: boolean) => void folderRequests.answer(id, allow)
  return (
    <section
      aria-labelledby={titleId}
      className="pointer-events-auto flex w-120 max-w-full animate-rise gap-3 rounded-lg border border-line bg-raised p-3.5 shadow-float"
    >
      <FolderLock size={16} aria-hidden="true" className="mt-0.5 shrink-0 text-warn" />
      <div className="min-w-0 flex-1 space-y-2">
        <h2 id={titleId} className="font-semibold">
          <span className="inline-block max-w-3/5 truncate align-bottom">{visibleName(client)}</span> asks to work in a
          folder
        </h2>
        <p className="truncate-start font-mono text-small select-text" title={visibleName(path)}>
          <bdi>
            <Name>{path}</Name>
          </bdi>
        </p>
        <p className="text-small text-ink-2">
          Agents may then begin sandboxes in it and below. The folder itself stays as it is.
        </p>
        {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
        <div className="flex items-center gap-2">
          <span className="flex-1 text-small text-ink-3">
            {behind > 0 ? `${count(behind, 'more folder')} asked for` : null}
          </span>
          <Button disabled={answering} onClick={() => answer(false)}>
            Refuse
          </Button>
          <Button look="main" disabled={answering} onClick={() => answer(true)}>
            Allow
          </Button>
        </div>
      </div>
    </section>
  )
}
