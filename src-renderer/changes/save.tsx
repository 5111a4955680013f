/** Saves a file as it was on either side, byte for byte. */
import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { RewindError } from '../../src-main/contract/index.ts'
import { visible } from '../../src-main/contract/text.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { leaf } from '../elements/format.ts'
import { Spinner } from '../elements/spinner.tsx'
import { useHost } from '../host/context.ts'
import { type FileRef, partsOf } from './read-file.ts'
import { nameThen, type SeenChange } from './seen.ts'

interface SaveProps {
  session: string
  change: SeenChange
  from: string
  to: string
}

/** How far the saving is; null before its first part came. */
type Saving = { state: 'idle' } | { state: 'saving'; bytes: number } | { state: 'failed'; problem: RewindError }

export function Save({ session, change, from, to }: SaveProps) {
  const { path, rawPath, before, after } = change
  const now = { path, rawPath }
  const sides = [
    { name: 'before', bytes: before, at: from, path: nameThen(change) ?? now },
    { name: 'after', bytes: after, at: to, path: now },
  ].filter((side) => side.bytes !== null)
  return sides.map(({ name, bytes, at, path }) => (
    <SaveOne
      key={name}
      file={{ session, ...path, at }}
      bytes={bytes ?? 0}
      label={sides.length === 1 ? 'Save as it was' : `Save as it was ${name}`}
      text={sides.length === 1 ? 'Save' : name === 'before' ? 'Before' : 'After'}
    />
  ))
}

function SaveOne({ file, bytes, label, text }: { file: FileRef; bytes: number; label: string; text: string }) {
  const { rpc } = useHost()
  const [saving, setSaving] = useState<Saving>({ state: 'idle' })
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])
  const start = async () => {
    const own = new AbortController()
    abort.current = own
    setSaving({ state: 'saving', bytes: 0 })
    try {
      // Each part is the browser's to keep from then on, which writes large ones to the disk.
      const parts: Blob[] = []
      let got = 0
      for await (const part of partsOf(rpc, file, own.signal)) {
        parts.push(new Blob([part]))
        got += part.length
        if (!own.signal.aborted) setSaving({ state: 'saving', bytes: got })
      }
      if (own.signal.aborted) return
      // A type of its own, or the browser adds an ending to the name.
      download(new Blob(parts, { type: 'application/octet-stream' }), leaf(file.path))
      setSaving({ state: 'idle' })
    } catch (error) {
      if (!own.signal.aborted) setSaving({ state: 'failed', problem: fromRpcError(error) })
    }
  }
  const stop = () => {
    abort.current?.abort()
    setSaving({ state: 'idle' })
  }
  const isSaving = saving.state === 'saving'
  return (
    <span className="flex shrink-0 items-center gap-1">
      {saving.state === 'failed' ? (
        <span role="alert" className="text-bad" title={visible(saving.problem.nextStep ?? '')}>
          {visible(saving.problem.message)}
        </span>
      ) : null}
      <button
        type="button"
        aria-label={isSaving ? `Stop saving: ${percent(saving.bytes, bytes)}` : label}
        title={isSaving ? 'Stop saving' : label}
        onClick={isSaving ? stop : () => void start()}
        className="inline-flex h-6 items-center gap-1 rounded-md px-1.5 text-ink-2 hover:bg-hover hover:text-ink"
      >
        {isSaving ? <Spinner /> : <Download size={13} aria-hidden="true" />}
        {isSaving ? percent(saving.bytes, bytes) : text}
      </button>
    </span>
  )
}

const percent = (got: number, all: number): string => `${all > 0 ? Math.min(100, Math.floor((got / all) * 100)) : 0}%`

const KEPT_MS = 60_000

function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
