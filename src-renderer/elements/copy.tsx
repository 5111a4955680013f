/** A line to be typed elsewhere, with a button that copies it and says so. */
import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { IconButton } from './button.tsx'

const SAID_FOR_MS = 1600

/** @returns what became of the last copy, for a moment, and the way to make one */
export function useCopied(text: string): { said: 'copied' | 'failed' | null; copy(): void } {
  const [said, setSaid] = useState<'copied' | 'failed' | null>(null)
  useEffect(() => {
    if (!said) return
    const timer = setTimeout(() => setSaid(null), SAID_FOR_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setSaid('copied'),
      () => setSaid('failed'),
    )
  }
  return { said, copy }
}

export function CopyLine({ text }: { text: string }) {
  const { said, copy } = useCopied(text)
  return (
    <span className="flex items-center gap-2 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-3">
      <code className="min-w-0 flex-1 select-text truncate font-mono text-code">{text}</code>
      <span role="status" className="text-tiny text-ink-2">
        {said === 'copied' ? 'Copied' : said === 'failed' ? 'Select it to copy' : ''}
      </span>
      <IconButton label={`Copy ${text}`} onClick={copy}>
        {said === 'copied' ? <Check size={14} className="text-ok" /> : <Copy size={14} />}
      </IconButton>
    </span>
  )
}
