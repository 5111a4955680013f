/** Take a checkpoint now; a label is welcome, not required. */
import { Popover } from 'radix-ui'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import type { RewindError } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { ProblemLine } from '../elements/problem.tsx'
import { useHost } from '../host/context.ts'
import { onAction } from './keys.ts'

const LONGEST_LABEL = 256

export function CheckpointPopover({ icon }: { icon: ReactNode }) {
  const { rewind } = useHost()
  const [open, setOpen] = useState(false)
  const [label, setLabel] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<RewindError | null>(null)
  useEffect(() => onAction('checkpoint', () => setOpen(true)), [])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setProblem(null)
    try {
      await rewind.checkpoint(label.trim() || null)
      setOpen(false)
      setLabel('')
    } catch (error) {
      setProblem(fromRpcError(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button icon={icon} shortcut="C">
          Checkpoint
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={6}
          aria-label="New checkpoint"
          className="z-10 w-72 animate-rise rounded-lg border border-line bg-raised p-3 shadow-float"
        >
          <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-2">
            <div className="flex gap-2">
              <input
                aria-label="Label"
                placeholder="Label, or none"
                maxLength={LONGEST_LABEL}
                spellCheck={false}
                value={label}
                onChange={(event) => setLabel(event.target.value)}
                className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-base px-2 select-text placeholder:text-ink-3"
              />
              <Button look="main" type="submit" busy={busy} disabled={busy}>
                Take
              </Button>
            </div>
            {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
          </form>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
