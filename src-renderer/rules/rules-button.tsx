/** Opens the rules of the session. */
import { SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../elements/button.tsx'
import { useFocusBack } from '../elements/focus-back.ts'
import { RulesSheet } from './sheet.tsx'

export function RulesButton({ session }: { session: string }) {
  const [open, setOpen] = useState(false)
  const opens = useFocusBack(open)
  return (
    <>
      <IconButton
        label="Rules"
        aria-haspopup="dialog"
        onClick={() => {
          opens()
          setOpen(true)
        }}
      >
        <SlidersHorizontal size={14} />
      </IconButton>
      {open ? <RulesSheet session={session} onClose={() => setOpen(false)} /> : null}
    </>
  )
}
