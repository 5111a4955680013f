/** The terminal of a command, drawn as it is and typed into, whoever started it. */
import { type ClipboardEvent, type KeyboardEvent, memo, useEffect, useRef, useState } from 'react'
import type { CommandRecord, RewindError, TerminalSize } from '../../src-main/contract/index.ts'
import { visible } from '../../src-main/contract/text.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Loading, ProblemLine } from '../elements/problem.tsx'
import { useStickToEnd } from '../elements/stick.ts'
import { useHost } from '../host/context.ts'
import { pasted, typedBy } from './keys.ts'
import { type Cursor, type Line, type Run, Screen } from './screen.ts'
import { isOurs } from './shell.ts'

/** px, as the class below draws it. */
const LINE_HEIGHT = 18
const PADDING_X = 16
const PADDING_Y = 8
/** Bytes of the end of a long run that the screen is made from. */
const REPLAYED_BYTES = 1 << 20
const RESIZE_AFTER_MS = 120

interface Shown {
  lines: Line[]
  cursor: Cursor
}

interface TerminalViewProps {
  command: CommandRecord & { terminal: TerminalSize }
  /** Takes the focus when it is there: it was opened to be typed into. */
  focused: boolean
}

export function TerminalView({ command, focused }: TerminalViewProps) {
  const { screen, shown, problem, type } = useScreen(command)
  const running = command.status === 'running'
  const box = useStickToEnd<HTMLDivElement>(shown)
  const probe = useRef<HTMLSpanElement>(null)
  useFit(command, box, probe)
  useEffect(() => {
    if (focused) box.current?.focus()
  }, [focused, box])

  const onKeyDown = (event: KeyboardEvent) => {
    if (!running || event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && event.shiftKey) {
      document.querySelector<HTMLElement>('[role=listbox][aria-label=Commands]')?.focus()
      event.preventDefault()
      return
    }
    if (event.ctrlKey && event.shiftKey && event.key.toUpperCase() === 'C') {
      event.preventDefault()
      void navigator.clipboard.writeText(String(window.getSelection() ?? ''))
      return
    }
    const typed = typedBy(event, screen.current?.applicationKeys ?? false)
    if (typed === null) return
    event.preventDefault()
    type(typed)
  }
  const onPaste = (event: ClipboardEvent) => {
    if (!running) return
    event.preventDefault()
    type(pasted(event.clipboardData.getData('text'), screen.current?.bracketedPaste ?? false))
  }
  return (
    <>
      {problem ? <ProblemLine message={problem.message} nextStep={problem.nextStep} /> : null}
      {/* biome-ignore lint/a11y/useSemanticElements: what it holds has colours and places, which a textarea has not */}
      <div
        ref={box}
        role="textbox"
        aria-multiline="true"
        aria-readonly={!running}
        aria-label="Terminal"
        aria-description={running ? 'Shift and Escape leave it' : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        className="group min-h-0 flex-1 overflow-auto bg-sunken font-mono text-code select-text outline-none focus-visible:inset-ring-1 focus-visible:inset-ring-accent-line"
      >
        <span ref={probe} aria-hidden="true" className="invisible absolute">
          MMMMMMMMMM
        </span>
        {shown === null ? (
          <Loading what="Waiting for the terminal" />
        ) : (
          <div className="relative w-max px-4 py-2">
            {shown.lines.map((line) => (
              <LineView key={line.id} line={line} text={signatureOf(line)} />
            ))}
            {running ? <CursorView {...shown.cursor} /> : null}
          </div>
        )}
      </div>
    </>
  )
}

/** Follows the command into a screen. */
function useScreen(command: CommandRecord & { terminal: TerminalSize }) {
  const { rpc } = useHost()
  const { session, id, terminal } = command
  const screen = useRef<Screen | null>(null)
  const [shown, setShown] = useState<Shown | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  // What is known when it is first shown; a run that goes on is followed, not begun anew.
  const first = useRef(command).current
  const queue = useRef(Promise.resolve())
  const type = (text: string) => {
    const bytes = toBase64(text)
    // In their order: each waits for the one before.
    queue.current = queue.current
      .then(() => rpc.commands.type({ session, id, bytes }))
      .catch((error) => setProblem(fromRpcError(error)))
  }
  const answer = useRef(type)
  answer.current = type

  useEffect(() => {
    const abort = new AbortController()
    let frame = 0
    const made = new Screen({
      size: first.terminal,
      // Whoever else shows it has a terminal of its own that answers.
      onAnswer: (text) => (isOurs(id) ? answer.current(text) : undefined),
      onChange: () => {
        cancelAnimationFrame(frame)
        frame = requestAnimationFrame(() => setShown({ lines: made.lines, cursor: made.cursor }))
      },
    })
    screen.current = made
    const offset = Math.max(0, first.stdoutBytes - REPLAYED_BYTES)
    const follow = async () => {
      const parts = await rpc.commands.follow({ session, id, stream: 'stdout', offset }, { signal: abort.signal })
      for await (const { bytes } of parts) await made.write(Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0)))
    }
    follow().catch((error) => {
      if (!abort.signal.aborted) setProblem(fromRpcError(error))
    })
    return () => {
      abort.abort()
      cancelAnimationFrame(frame)
      made.dispose()
    }
  }, [rpc, session, id, first])

  const { columns, rows } = terminal
  useEffect(() => screen.current?.resize({ columns, rows }), [columns, rows])
  return { screen, shown, problem, type }
}

/** A shell that was opened here is as large as its place here. */
function useFit(
  { session, id, status }: CommandRecord,
  box: React.RefObject<HTMLDivElement | null>,
  probe: React.RefObject<HTMLSpanElement | null>,
): void {
  const { rpc } = useHost()
  const fits = isOurs(id) && status === 'running'
  useEffect(() => {
    const element = box.current
    if (!fits || !element) return
    let timer: ReturnType<typeof setTimeout>
    let last = ''
    const fit = () => {
      const width = (probe.current?.getBoundingClientRect().width ?? 0) / 10
      if (width === 0) return
      const size = {
        columns: Math.max(20, Math.floor((element.clientWidth - 2 * PADDING_X) / width)),
        rows: Math.max(4, Math.floor((element.clientHeight - 2 * PADDING_Y) / LINE_HEIGHT)),
      }
      if (last === JSON.stringify(size)) return
      last = JSON.stringify(size)
      // It may have ended meanwhile; its size matters no more then.
      rpc.commands.resize({ session, id, size }).catch(() => {})
    }
    const observer = new ResizeObserver(() => {
      clearTimeout(timer)
      timer = setTimeout(fit, RESIZE_AFTER_MS)
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      clearTimeout(timer)
    }
  }, [rpc, session, id, fits, box, probe])
}

const signatureOf = (line: Line): string => JSON.stringify(line.runs)

/** @param text what is drawn, so that a line is drawn again only when it is another */
const LineView = memo(
  ({ line }: { line: Line; text: string }) => (
    <div className="h-[18px] leading-[18px] whitespace-pre">
      {line.runs.map((run, at) => (
        <span key={at} className={classOf(run)} style={styleOf(run)}>
          {visible(run.text)}
        </span>
      ))}
    </div>
  ),
  (before, after) => before.text === after.text,
)

function classOf({ bold, dim, italic, underline }: Run): string {
  return [bold && 'font-semibold', dim && 'opacity-70', italic && 'italic', underline && 'underline']
    .filter(Boolean)
    .join(' ')
}

function styleOf({ ink, ground, inverse }: Run): { color?: string; backgroundColor?: string } {
  const front = ink === null ? (inverse ? 'var(--ink)' : undefined) : inCss(ink)
  const back = ground === null ? (inverse ? 'var(--sunken)' : undefined) : inCss(ground)
  const [color, backgroundColor] = inverse ? [back, front] : [front, back]
  return { ...(color ? { color } : {}), ...(backgroundColor ? { backgroundColor } : {}) }
}

const inCss = (colour: number | string): string => (typeof colour === 'string' ? colour : `var(--ansi-${colour})`)

function CursorView({ line, column }: Cursor) {
  return (
    <span
      aria-hidden="true"
      className="pointer-events-none absolute w-[1ch] h-[18px] border border-accent group-focus:bg-accent/50"
      style={{ top: PADDING_Y + line * LINE_HEIGHT, left: `calc(${PADDING_X}px + ${column}ch)` }}
    />
  )
}

const toBase64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
