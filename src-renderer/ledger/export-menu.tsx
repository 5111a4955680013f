/** The ledger, and the report of the whole session, as files. */
import { Download, FileText } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useState } from 'react'
import type { LedgerFormat } from '../../src-main/contract/index.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { size } from '../elements/format.ts'
import { fileName, saveAs } from '../elements/save.ts'
import { useHost, useSession } from '../host/context.ts'

const FORMATS: readonly { format: LedgerFormat; words: string; type: string }[] = [
  { format: 'json', words: 'JSON', type: 'application/json' },
  { format: 'csv', words: 'CSV', type: 'text/csv' },
  { format: 'html', words: 'HTML', type: 'text/html' },
]

/** Saves a document that the host writes in pieces, and says how that went. */
function useSaving() {
  const { rewind } = useHost()
  const [busy, setBusy] = useState(false)
  const save = async (name: string, type: string, ask: () => Promise<AsyncIterable<string>>) => {
    setBusy(true)
    try {
      const bytes = await saveAs(name, type, await ask())
      rewind.say({ kind: 'checkpoint', text: `Saved ${name}, ${size(bytes)}`, nextStep: null, undo: false })
    } catch (error) {
      const { message, nextStep } = fromRpcError(error)
      rewind.say({ kind: 'problem', text: message, nextStep, undo: false })
    } finally {
      setBusy(false)
    }
  }
  return { busy, save }
}

export function ExportMenu() {
  const { rpc } = useHost()
  const session = useSession((state) => state.id)
  const name = useSession((state) => state.details?.name ?? '')
  const { busy, save } = useSaving()
  if (session === null) return null
  return (
    <>
      <Button
        look="quiet"
        icon={<FileText size={14} />}
        disabled={busy}
        title="The run on one page: timeline, cost, ledger, files"
        onClick={() => void save(`${fileName(name)}-report.html`, 'text/html', () => rpc.ledger.report({ session }))}
      >
        Report
      </Button>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <Button look="quiet" icon={<Download size={14} />} busy={busy} disabled={busy}>
            Export…
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="end"
            sideOffset={4}
            aria-label="Export the whole ledger"
            className="z-10 min-w-36 animate-rise rounded-lg border border-line bg-raised p-1 shadow-float"
          >
            {FORMATS.map(({ format, words, type }) => (
              <DropdownMenu.Item
                key={format}
                onSelect={() =>
                  void save(`${fileName(name)}-ledger.${format}`, type, () => rpc.ledger.export({ session, format }))
                }
                className="flex h-7 items-center rounded-md px-2 outline-none data-[highlighted]:bg-hover"
              >
                {words}
              </DropdownMenu.Item>
            ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </>
  )
}
