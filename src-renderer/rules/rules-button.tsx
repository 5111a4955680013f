/** Opens the rules of the session. */
import { SlidersHorizontal } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from '../elements/button.tsx'
import { useFocusBack } from '../elements/focus-back.ts'
import { onAction } from '../session/keys.ts'
import { RulesSheet } from './sheet.tsx'

export function RulesButton({ session }: { session: string }) {
  const [open, setOpen] = useState(false)
  const opens = useFocusBack(open)
  const ask = () => {
    opens()
    setOpen(true)
  }
  useEffect(() => onAction('rules', ask))
  return (
    <>
      <IconButton label="Rules" aria-haspopup="dialog" onClick={ask}>
        <SlidersHorizontal size={14} />
      </IconButton>
      {open ? <RulesSheet session={session} onClose={() => setOpen(false)} /> : null}
    </>
  )
}
