/** Several lines to be taken elsewhere, with a button that copies them and says so. */
import { Check, Copy } from 'lucide-react'
import { IconButton } from './button.tsx'
import { useCopied } from './copy.tsx'

export function CopyBlock({ text, name }: { text: string; name: string }) {
  const { said, copy } = useCopied(text)
  return (
    <div className="relative rounded-md border border-line bg-sunken">
      <pre className="py-2 pr-20 pl-3 font-mono text-code whitespace-pre-wrap select-text [overflow-wrap:anywhere]">
        {text}
      </pre>
      <span className="absolute top-0.5 right-0.5 flex items-center gap-1 rounded-md bg-sunken pl-1">
        <span role="status" className="text-tiny text-ink-2">
          {said === 'copied' ? 'Copied' : said === 'failed' ? 'Select it to copy' : ''}
        </span>
        <IconButton label={`Copy ${name}`} onClick={copy}>
          {said === 'copied' ? <Check size={14} className="text-ok" /> : <Copy size={14} />}
        </IconButton>
      </span>
    </div>
  )
}
