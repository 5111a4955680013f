/** Preferences: how the window looks. Each choice is seen at once. */
import type { ReactNode } from 'react'
import { useStore } from 'zustand'
import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { Segments } from '../elements/segments.tsx'
import { preferences, USUAL } from './preferences.ts'

export function PreferencesSheet({ close }: { close(): void }) {
  const chosen = useStore(preferences)
  const { choose } = preferences
  return (
    <Dialog title="Preferences" onClose={close} width="w-120">
      <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5">
        <Choice name="Theme">
          <Segments
            label="Theme"
            value={chosen.theme}
            onChange={(theme) => choose({ theme })}
            choices={[
              { value: 'system', text: 'System' },
              { value: 'light', text: 'Light' },
              { value: 'dark', text: 'Dark' },
            ]}
          />
        </Choice>
        <Choice name="Contrast">
          <Segments
            label="Contrast"
            value={chosen.contrast}
            onChange={(contrast) => choose({ contrast })}
            choices={[
              { value: 'system', text: 'System' },
              { value: 'normal', text: 'Normal' },
              { value: 'high', text: 'High' },
            ]}
          />
        </Choice>
        <Choice name="Verdicts and changes">
          <Segments
            label="Verdicts and changes"
            value={chosen.colours}
            onChange={(colours) => choose({ colours })}
            choices={[
              { value: 'usual', text: 'Green and red' },
              { value: 'safe', text: 'Blue and orange' },
            ]}
          />
        </Choice>
        <Choice name="Text size">
          <Segments
            label="Text size"
            value={chosen.text}
            onChange={(text) => choose({ text })}
            choices={[
              { value: 'small', text: 'Small' },
              { value: 'normal', text: 'Normal' },
              { value: 'large', text: 'Large' },
              { value: 'larger', text: 'Larger' },
            ]}
          />
        </Choice>
        <ul aria-label="Sample" className="grid grid-cols-5 gap-1 text-center text-small">
          <li className="rounded-md bg-ok-soft py-1 text-ok">pass</li>
          <li className="rounded-md bg-bad-soft py-1 text-bad">fail</li>
          <li className="rounded-md bg-warn-soft py-1 text-warn">unknown</li>
          <li className="rounded-md bg-add py-1">+ added</li>
          <li className="rounded-md bg-del py-1">− deleted</li>
        </ul>
      </div>
      <footer className="flex justify-end gap-2 px-5 py-4">
        <Button onClick={() => choose(USUAL)}>As usual</Button>
        <Button look="main" data-focus-first onClick={close}>
          Done
        </Button>
      </footer>
    </Dialog>
  )
}

const Choice = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex items-center justify-between gap-4">
    <span aria-hidden="true">{name}</span>
    {children}
  </div>
)
