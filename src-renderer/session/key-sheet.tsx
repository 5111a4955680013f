/** The key map. */
import { Button, Key } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { KEYS, keyCaps, LIST_KEYS } from './keys.ts'

const everywhere = KEYS.flatMap(({ key, words }) => (key === null ? [] : [{ key: keyCaps(key), words }]))

export function KeySheet({ close }: { close(): void }) {
  return (
    <Dialog title="Keys" onClose={close} width="w-96">
      <div className="flex flex-col gap-3 px-5 pb-4">
        {[everywhere, LIST_KEYS].map((keys, index) => (
          <dl key={index === 0 ? 'everywhere' : 'lists'} className="grid grid-cols-[80px_1fr] items-center gap-y-1">
            {keys.map(({ key, words }) => (
              <div key={key} className="contents">
                <dt className="flex gap-1">
                  {key.split(' ').map((part) => (
                    <Key key={part}>{part}</Key>
                  ))}
                </dt>
                <dd>{words}</dd>
              </div>
            ))}
          </dl>
        ))}
        <div className="flex justify-end">
          <Button onClick={close}>Close</Button>
        </div>
      </div>
    </Dialog>
  )
}
