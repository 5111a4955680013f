/** Everything that the window can do, and everywhere it can go, by typing a few letters of it. */
import { Command } from 'cmdk'
import { type ReactNode, useMemo, useState } from 'react'
import { Ago } from '../elements/ago.tsx'
import { Key } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { leaf } from '../elements/format.ts'
import { Name } from '../elements/text.tsx'
import { useHost, useSession, useSessions } from '../host/context.ts'
import { act, canAct, keyCaps } from '../session/keys.ts'
import { StateDot, stateWord } from '../sessions/state.tsx'
import { focusTimeline } from '../timeline/focus.ts'
import { VerdictWord } from '../timeline/row.tsx'
import { choicesFor } from './choices.ts'

export function Palette({ close }: { close(): void }) {
  const { sessions: store, selection } = useHost()
  const sessions = useSessions((state) => state.sessions)
  const points = useSession((state) => state.timeline?.points)
  const [typed, setTyped] = useState('')
  const {
    actions,
    sessions: places,
    points: moments,
  } = useMemo(() => choicesFor(typed, canAct, sessions, points ?? []), [typed, sessions, points])

  /** The palette goes first: what is chosen may open a sheet, or take the focus. */
  const choose = (then: () => void) => () => {
    close()
    setTimeout(then)
  }
  return (
    <Dialog title="Commands" onClose={close} bare>
      <Command label="Commands" shouldFilter={false} loop className="flex min-h-0 flex-col">
        <Command.Input
          data-focus-first
          value={typed}
          onValueChange={setTyped}
          placeholder="Do something, or go somewhere"
          maxLength={200}
          className="h-11 w-full shrink-0 border-b border-line bg-transparent px-4 text-title outline-none select-text placeholder:text-ink-3"
        />
        <Command.List label="Commands" className="max-h-[50vh] min-h-0 overflow-y-auto p-1.5">
          <Command.Empty className="px-3 py-4 text-ink-2">Nothing is called that</Command.Empty>
          <Group heading="Do" items={actions}>
            {({ what: { action, key }, text }) => (
              <Item key={action} value={`do ${action}`} onSelect={choose(() => act(action))}>
                <span className="flex-1">{text}</span>
                {key === null ? null : (
                  <span className="flex gap-1">
                    {keyCaps(key)
                      .split(' ')
                      .map((cap) => (
                        <Key key={cap}>{cap}</Key>
                      ))}
                  </span>
                )}
              </Item>
            )}
          </Group>
          <Group heading="Points" items={moments}>
            {({ what: point, text }) => (
              <Item
                key={point.id}
                value={`point ${point.id}`}
                onSelect={choose(() => {
                  selection.select(point.id)
                  focusTimeline()
                })}
              >
                <Name className="shrink">{text}</Name>
                {point.verdict ? <VerdictWord verdict={point.verdict.status} /> : null}
                <Name className="flex-1 text-small text-ink-3">{point.why ?? point.tool ?? ''}</Name>
                <Ago at={point.at} className="text-small text-ink-3" />
              </Item>
            )}
          </Group>
          <Group heading="Sessions" items={places}>
            {({ what: session, text }) => (
              <Item
                key={session.id}
                value={`session ${session.id}`}
                onSelect={choose(() => {
                  store.open(session.id)
                  focusTimeline()
                })}
              >
                <StateDot session={session} />
                <Name className="shrink">{text}</Name>
                <span className="text-small text-ink-3">{stateWord(session)}</span>
                <Name className="flex-1 text-right text-small text-ink-3">{leaf(session.workspace)}</Name>
              </Item>
            )}
          </Group>
        </Command.List>
      </Command>
    </Dialog>
  )
}

interface GroupProps<Item> {
  heading: string
  items: readonly Item[]
  children(item: Item): ReactNode
}

function Group<Item>({ heading, items, children }: GroupProps<Item>) {
  if (items.length === 0) return null
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-tiny [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-ink-3"
    >
      {items.map(children)}
    </Command.Group>
  )
}

interface ItemProps {
  value: string
  onSelect(): void
  children: ReactNode
}

const Item = ({ value, onSelect, children }: ItemProps) => (
  <Command.Item
    value={value}
    onSelect={onSelect}
    className="flex h-8 items-center gap-2 rounded-md px-2.5 data-[selected=true]:bg-accent-soft"
  >
    {children}
  </Command.Item>
)
