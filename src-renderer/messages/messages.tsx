/** The conversation as it stood at the selected moment, and what a rewind cut from it. */
import { Braces, CircleCheck, ListChecks, Scissors, TriangleAlert, Wrench } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { MAIN } from '../../src-main/contract/format-names.ts'
import type {
  Conversation,
  LedgerEntry,
  Message,
  StoredFormat,
  Timeline,
  Validity as Verdict,
} from '../../src-main/contract/index.ts'
import { visible, visibleName } from '../../src-main/contract/text.ts'
import { IconButton } from '../elements/button.tsx'
import { count } from '../elements/format.ts'
import { Loading, Nothing, Problem } from '../elements/problem.tsx'
import { useStickToEnd } from '../elements/stick.ts'
import { useAsked } from '../host/asked.ts'
import { useHost, useSession } from '../host/context.ts'
import { newestOf, pointOf } from '../timeline/moments.ts'
import { NOW } from '../timeline/selection-store.ts'
import { messagesBefore, momentOfMessage } from '../timeline/step.ts'
import { After } from './after.tsx'
import { cutBy, cutMessages } from './cut.ts'
import { endOfLine, type Later, laterMessages } from './later.ts'
import { MessageView } from './message-view.tsx'

/** Each provider's way of writing, as people call it. */
const FORMATS: Readonly<Record<StoredFormat, string>> = {
  openai: 'OpenAI chat',
  'openai-responses': 'OpenAI Responses',
  anthropic: 'Anthropic',
  langchain: 'LangChain',
  vercel: 'AI SDK',
}

/** Messages drawn at first; earlier ones on demand. */
const PAGE = 200

export function Messages() {
  const { rpc, selection } = useHost()
  const { moment, other } = useStore(selection)
  const session = useSession((state) => state.id)
  const timeline = useSession((state) => state.timeline)
  const ledger = useSession((state) => state.ledger)
  const revision = useSession((state) => state.messages)
  const [raw, setRaw] = useState(false)
  const [chosen, choose] = useState(MAIN)
  const [judging, setJudging] = useState(false)

  const at = timeline ? newestOf(timeline, { moment, other }) : moment
  const version = at === NOW ? revision : 0
  const all = useAsked(session && `${session} ${at}`, version, (signal) =>
    rpc.messages.list({ session: session ?? '', at }, { signal }),
  )
  const conversations = all.state === 'ready' ? all.value : []
  const conversation = conversations.some((one) => one.conversation === chosen) ? chosen : MAIN
  const asked = useAsked(session && `${session} ${at} ${conversation}`, version, (signal) =>
    rpc.messages.get({ session: session ?? '', at, conversation }, { signal }),
  )
  const cut = timeline && other === null ? cutBy(timeline, at) : null
  const left = useAsked(cut && `${session} ${cut.tip} ${conversation}`, 0, (signal) =>
    rpc.messages.get({ session: session ?? '', at: cut?.tip ?? '', conversation }, { signal }),
  )
  // Asked for once for a whole line: going from point to point shows another part of the same history.
  const end = timeline && endOfLine(timeline, at)
  const ahead = useAsked(end && `${session} ${end} ${conversation}`, end === NOW ? revision : 0, (signal) =>
    rpc.messages.get({ session: session ?? '', at: end ?? NOW, conversation }, { signal }),
  )
  const validity = useAsked(judging ? session && `${session} ${at} ${conversation}` : null, version, (signal) =>
    rpc.messages.validity({ session: session ?? '', at, conversation }, { signal }),
  )

  // Points count the messages of all conversations together: with several there is no telling which of them are meant.
  const alone = conversations.length === 1 && timeline !== null
  const [show, showLater] = useMemo(
    () =>
      [at, end ?? NOW].map((of) => (place: number, isCall: boolean) => {
        if (!timeline) return
        const moment = momentOfMessage(timeline, of, place)
        if (isCall) selection.changesOf(moment)
        else selection.select(moment)
      }),
    [timeline, at, end, selection],
  )

  // Both compare whole histories.
  const present = asked.state === 'ready' ? asked.value.messages : null
  const before = left.state === 'ready' ? left.value : null
  const after = end && ahead.state === 'ready' ? ahead.value.messages : null
  const gone = useMemo(() => (before && present ? cutMessages(withoutCue(before), present) : []), [before, present])
  const later = useMemo(() => (after && present ? laterMessages(after, present) : []), [after, present])

  if (asked.state === 'loading' || (end && ahead.state === 'loading'))
    return <Loading what="Reading the conversation" />
  if (asked.state === 'failed')
    return <Problem message={asked.problem.message} nextStep={asked.problem.nextStep} again={asked.again} />
  const repairs = timeline && cut ? repairsOf(ledger, timeline, cut.tip) : []
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex h-9 shrink-0 items-center gap-3 border-b border-line pr-2 pl-4 text-small text-ink-2">
        <span>{count(asked.value.messages.length, 'message')}</span>
        <span>{FORMATS[asked.value.format]}</span>
        <Validity conversation={asked.value} />
        <span className="flex-1" />
        {conversations.length > 1 ? (
          <select
            aria-label="Which conversation"
            value={conversation}
            onChange={(event) => choose(event.target.value)}
            className="h-7 min-w-0 rounded-md border border-line-strong bg-raised px-1.5 text-ink"
          >
            {conversations.map((one) => (
              <option key={one.conversation} value={one.conversation}>
                {visibleName(one.conversation)} ({one.count})
              </option>
            ))}
          </select>
        ) : null}
        <IconButton label="What each provider would say" pressed={judging} onClick={() => setJudging(!judging)}>
          <ListChecks size={14} />
        </IconButton>
        <IconButton label="Raw JSON" pressed={raw} onClick={() => setRaw(!raw)}>
          <Braces size={14} />
        </IconButton>
      </header>
      {judging && validity.state === 'ready' ? <Providers all={validity.value} /> : null}
      {asked.value.problems.length > 0 ? (
        <ul
          aria-label="Problems"
          className="max-h-24 shrink-0 overflow-y-auto border-b border-line bg-warn-soft px-4 py-1"
        >
          {asked.value.problems.map((problem) => (
            <li key={problem} className="text-small text-warn">
              {visible(problem)}
            </li>
          ))}
        </ul>
      ) : null}
      {asked.value.messages.length + gone.length + later.length === 0 ? (
        <Nothing title="No conversation here">
          An agent’s messages appear as it hands them over; a rewind takes them back together with the files.
        </Nothing>
      ) : (
        <History
          key={`${at} ${conversation}`}
          conversation={asked.value}
          gone={gone}
          branch={cut?.branch ?? ''}
          repairs={repairs}
          raw={raw}
          before={alone && other === null ? messagesBefore(timeline, at) : null}
          later={later}
          laterCue={ahead.state === 'ready' ? ahead.value.cue : null}
          show={(alone && show) || null}
          showLater={(alone && showLater) || null}
        />
      )}
    </div>
  )
}

/** The cue of an earlier rewind is the machine's word: an undo cuts it, and nobody misses it. */
const withoutCue = ({ messages, cue }: Conversation): Message[] => messages.filter((_, index) => index !== cue)

/** Repairs that the rewind which left this tip made: those between its moment and the next tip's. */
export function repairsOf(ledger: readonly LedgerEntry[], timeline: Timeline, tipId: string): LedgerEntry[] {
  const tip = pointOf(timeline, tipId)
  if (!tip) return []
  const next = timeline.points.find((point) => point.kind === 'tip' && point.seq > tip.seq)
  return ledger.filter(
    ({ eventType, timestamp }) => eventType === 'repair' && timestamp >= tip.at && (!next || timestamp < next.at),
  )
}

interface HistoryProps {
  conversation: Conversation
  gone: Message[]
  branch: string
  repairs: LedgerEntry[]
  raw: boolean
  /** How many were there before the step that is looked at; null where nobody can tell. */
  before: number | null
  later: Later[]
  laterCue: number | null
  show: ((place: number, isCall: boolean) => void) | null
  showLater: ((place: number, isCall: boolean) => void) | null
}

/** How far down the line between then and later stands at first: most of what is in view is of the moment itself. */
const LATER_AT = 0.7

function History({
  conversation: { messages, cue },
  gone,
  branch,
  repairs,
  raw,
  before,
  later,
  laterCue,
  show,
  showLater,
}: HistoryProps) {
  const [shown, setShown] = useState(PAGE)
  const first = Math.max(0, messages.length - shown)
  const cutAt = gone.length === 0 ? -1 : (cue ?? messages.length)
  const box = useStickToEnd<HTMLOListElement>(messages.length + gone.length)
  const after = useRef<HTMLLIElement>(null)
  useEffect(() => {
    const [scroller, line] = [box.current, after.current]
    if (!scroller || !line) return
    const { top, height } = scroller.getBoundingClientRect()
    scroller.scrollTop += line.getBoundingClientRect().top - top - height * LATER_AT
  }, [box])
  return (
    <ol ref={box} aria-label="Conversation" className="min-h-0 flex-1 overflow-y-auto py-2 select-text">
      {first > 0 ? (
        <li className="px-4 py-1">
          <button
            type="button"
            className="text-small text-accent hover:underline"
            onClick={() => setShown(shown + PAGE)}
          >
            Show {count(Math.min(PAGE, first), 'earlier message')}
          </button>
        </li>
      ) : null}
      {messages.slice(first).map((message, offset) => {
        const index = first + offset
        return [
          index === cutAt ? <Cut key="cut" messages={gone} branch={branch} repairs={repairs} raw={raw} /> : null,
          index === before && index > 0 ? <StepBegins key="step" /> : null,
          <MessageView key={index} message={message} cue={index === cue} raw={raw} show={show} place={index} />,
        ]
      })}
      {cutAt >= messages.length ? <Cut messages={gone} branch={branch} repairs={repairs} raw={raw} /> : null}
      {later.length > 0 ? <After ref={after} later={later} cue={laterCue} raw={raw} show={showLater} /> : null}
    </ol>
  )
}

const StepBegins = () => (
  <li className="my-1 flex items-center gap-2 px-4 text-tiny text-ink-3">
    <span className="h-px flex-1 bg-line" />
    in this step
    <span className="h-px flex-1 bg-line" />
  </li>
)

interface CutProps {
  messages: Message[]
  branch: string
  repairs: LedgerEntry[]
  raw: boolean
}

function Cut({ messages, branch, repairs, raw }: CutProps) {
  return (
    <li className="my-2 border-y border-dashed border-line-strong bg-panel py-1">
      <p className="flex items-center gap-2 px-4 py-1 text-small font-medium text-ink-2">
        <Scissors size={13} aria-hidden="true" />
        Cut by the rewind · {count(messages.length, 'message')}, kept on branch {branch}
      </p>
      {repairs.map((repair) => (
        <p key={repair.id} className="flex items-center gap-2 px-4 py-0.5 text-small text-warn">
          <Wrench size={13} aria-hidden="true" className="shrink-0" />
          {visible(repair.notes ?? repair.resolution ?? 'The history was repaired')}
        </p>
      ))}
      <ol aria-label="Cut by the rewind">
        {messages.map((message, index) => (
          <MessageView key={index} message={message} cut raw={raw} />
        ))}
      </ol>
    </li>
  )
}

function Validity({ conversation: { messages, problems } }: { conversation: Conversation }) {
  if (messages.length === 0) return null
  if (problems.length === 0)
    return (
      <span className="flex items-center gap-1 text-ok" title="A strict provider would take this history">
        <CircleCheck size={13} aria-hidden="true" />
        valid
      </span>
    )
  return (
    <span className="flex items-center gap-1 text-warn" title="A strict provider would refuse this history">
      <TriangleAlert size={13} aria-hidden="true" />
      {count(problems.length, 'problem')}
    </span>
  )
}

/** Whether each provider would take the history, written its way. */
function Providers({ all }: { all: Verdict[] }) {
  return (
    <ul aria-label="Providers" className="shrink-0 border-b border-line bg-panel px-4 py-1">
      {all.map(({ format, problems, notes }) => (
        <li key={format} className="text-small">
          <span className="inline-block w-36 text-ink-2">{FORMATS[format]}</span>
          <span className={problems.length === 0 ? 'text-ok' : 'text-warn'}>
            {problems.length === 0 ? 'takes it' : `refuses it: ${visible(problems[0] ?? '')}`}
            {problems.length > 1 ? ` and ${problems.length - 1} more` : ''}
          </span>
          {notes.length > 0 ? (
            <span className="text-ink-3" title={notes.map(visible).join('\n')}>
              {' '}
              · {count(notes.length, 'thing')} left out
            </span>
          ) : null}
        </li>
      ))}
    </ul>
  )
}
