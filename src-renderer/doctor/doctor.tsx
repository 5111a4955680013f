/** What this machine offers, and the remedy for what it lacks. */
import { CircleAlert, CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { Check } from '../../src-main/contract/index.ts'
import { visibleName } from '../../src-main/contract/text.ts'
import { Button } from '../elements/button.tsx'
import { CopyLine } from '../elements/copy.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { Loading, Problem } from '../elements/problem.tsx'
import { Words } from '../elements/words.tsx'
import { useAsked } from '../host/asked.ts'
import { useHost } from '../host/context.ts'
import { commandsIn } from './commands.ts'

export function DoctorSheet({ close }: { close(): void }) {
  const { rpc } = useHost()
  const [times, setTimes] = useState(0)
  // A question of its own each time, so that it is seen to be asked again.
  const asked = useAsked(`doctor ${times}`, 0, (signal) => rpc.host.doctor(undefined, { signal }))
  return (
    <Dialog title="Doctor" note="What this machine has for Rewind, and what it lacks." onClose={close} width="w-160">
      <div className="min-h-40 overflow-y-auto px-5">
        {asked.state === 'loading' ? <Loading what="Checking" /> : null}
        {asked.state === 'failed' ? (
          <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
        ) : null}
        {asked.state === 'ready' ? (
          <ul aria-label="Checks" className="border-t border-line">
            {asked.value.map((check) => (
              <Line key={check.name} check={check} />
            ))}
          </ul>
        ) : null}
      </div>
      <footer className="flex justify-end gap-2 px-5 py-4">
        <Button
          busy={asked.state === 'loading'}
          disabled={asked.state === 'loading'}
          onClick={() => setTimes(times + 1)}
        >
          Check again
        </Button>
        <Button look="main" data-focus-first onClick={close}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

function Line({ check: { name, ok, detail, remedy } }: { check: Check }) {
  const Icon = ok ? CircleCheck : CircleAlert
  return (
    <li className="grid grid-cols-[16px_88px_64px_minmax(0,1fr)] gap-x-2 border-b border-line py-2">
      <Icon size={14} aria-hidden="true" className={`mt-[3px] ${ok ? 'text-ok' : 'text-warn'}`} />
      <span className="truncate font-medium">{visibleName(name)}</span>
      <span className={ok ? 'text-ok' : 'text-warn'}>{ok ? 'ok' : 'missing'}</span>
      <div className="flex min-w-0 flex-col gap-1 select-text">
        <p className="text-ink-2 [overflow-wrap:anywhere]">
          <Words>{detail}</Words>
        </p>
        {remedy ? (
          <p>
            <Words>{remedy}</Words>
          </p>
        ) : null}
        {commandsIn(remedy).map((command) => (
          <CopyLine key={command} text={command} />
        ))}
      </div>
    </li>
  )
}
