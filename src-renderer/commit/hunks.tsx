/**
 * A file's hunks, each to be taken or left, between the lines around them. Where the host changed the file too, its own
 * edits are shown in their places; of lines that both changed one side stands.
 */
import type { ReactNode } from 'react'
import { isOnlyLineEnds } from '../../src-main/contract/commit-words.ts'
import type { FileStretch } from '../../src-main/contract/index.ts'
import { visible } from '../../src-main/contract/text.ts'
import { count } from '../elements/format.ts'
import { spokenHunk } from './stretches.ts'

interface HunksProps {
  /** Of the file. */
  name: string
  stretches: readonly FileStretch[]
  /** Names of those that are taken. */
  take: ReadonlySet<string>
  choose(id: string, taken: boolean): void
  /** The sandbox's file takes the place of the host's: of its own edits nothing is left. */
  over: boolean
  disabled: boolean
}

export function Hunks({ name, stretches, take, choose, over, disabled }: HunksProps) {
  const hunks = stretches.filter(({ id }) => id !== null)
  const last = stretches.at(-1)
  const digits = String(Math.max(1, last ? Math.max(last.at.host, last.at.sandbox) : 1)).length + 1
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset does not scroll
    <div
      role="group"
      aria-label={`Hunks of ${name}`}
      className="my-1 max-h-80 overflow-y-auto rounded-md border border-line font-mono text-code select-text"
    >
      {stretches.map((stretch) => {
        const { id } = stretch
        const label = id === null ? '' : `${spokenHunk(stretch, hunks)} of ${name}`
        return (
          <StretchView
            key={`${stretch.at.base} ${stretch.kind}`}
            stretch={stretch}
            digits={digits}
            taken={id !== null && take.has(id)}
            over={over}
            control={
              id === null ? null : stretch.kind === 'clash' ? (
                <select
                  aria-label={label}
                  value={take.has(id) ? 'sandbox' : 'host'}
                  disabled={disabled}
                  onChange={({ target }) => choose(id, target.value === 'sandbox')}
                  className="h-6 rounded-md border border-line-strong bg-raised px-1 font-sans text-small text-ink"
                >
                  <option value="host">Keep the host’s</option>
                  <option value="sandbox">Take the sandbox’s</option>
                </select>
              ) : (
                <input
                  type="checkbox"
                  aria-label={label}
                  checked={take.has(id)}
                  disabled={disabled}
                  onChange={({ target }) => choose(id, target.checked)}
                  className="mt-0.75 size-3.5 accent-accent"
                />
              )
            }
          />
        )
      })}
    </div>
  )
}

interface StretchProps {
  stretch: FileStretch
  digits: number
  taken: boolean
  over: boolean
  control: ReactNode
}

function StretchView({ stretch, digits, taken, over, control }: StretchProps) {
  const { kind, at, base, sandbox, host, cut } = stretch
  const numbered = { digits, host: at.host, sandbox: at.sandbox }
  if (kind === 'same') {
    if (cut === null) return <Block {...numbered} lines={base} />
    const after = cut.after + cut.lines
    return (
      <>
        <Block {...numbered} lines={base.slice(0, cut.after)} />
        <p className="border-y border-line bg-panel px-3 py-0.5 font-sans text-small text-ink-2">
          {count(cut.lines, 'unchanged line')}
        </p>
        <Block digits={digits} host={at.host + after} sandbox={at.sandbox + after} lines={base.slice(cut.after)} />
      </>
    )
  }
  if (kind === 'clash')
    return (
      <div className="border-y border-line">
        <p className="flex min-h-8 items-center gap-2 bg-warn-soft px-3 font-sans text-small text-warn">
          <span className="flex-1">Changed on both sides</span>
          {control}
        </p>
        <Side caption="Before" {...numbered} lines={base} sandbox={null} host={null} tone="" />
        <Side
          caption="Host"
          {...numbered}
          lines={host}
          sandbox={null}
          tone={taken ? 'bg-del' : 'bg-add'}
          sign={taken ? '−' : '+'}
        />
        <Side
          caption="Sandbox"
          {...numbered}
          lines={sandbox}
          host={null}
          tone={taken ? 'bg-add' : ''}
          sign={taken ? '+' : ''}
        />
      </div>
    )
  if (kind === 'host' && over)
    return (
      <>
        <p className="bg-warn-soft px-3 pt-0.5 font-sans text-small text-warn">The host’s own edit, which goes</p>
        <Block {...numbered} lines={host} sandbox={null} sign="−" tone="bg-del" />
        <Block {...numbered} lines={base} host={null} sign="+" tone="bg-add" />
      </>
    )
  if (kind !== 'sandbox')
    return (
      <>
        <p className="px-3 pt-0.5 font-sans text-small text-ink-2">
          {kind === 'host' ? 'The host’s own edit, which stays' : 'The same on the host already'}
        </p>
        <Block {...numbered} lines={base} sandbox={null} host={null} sign="−" />
        <Block {...numbered} lines={host} sandbox={kind === 'both' ? at.sandbox : null} sign="+" />
      </>
    )
  return (
    <div className="flex">
      <span className="flex w-8 shrink-0 justify-center">{control}</span>
      <div className={`min-w-0 flex-1 ${taken ? '' : 'text-ink-2'}`}>
        {isOnlyLineEnds(stretch) ? (
          <p className="px-2 font-sans text-small text-warn">Only line endings differ</p>
        ) : null}
        <Block {...numbered} lines={base} sandbox={null} sign="−" tone={taken ? 'bg-del' : ''} indented />
        <Block {...numbered} lines={sandbox} host={null} sign="+" tone={taken ? 'bg-add' : ''} indented />
      </div>
    </div>
  )
}

function Side({ caption, ...block }: { caption: string } & BlockProps) {
  return (
    <div className="flex">
      <span className="w-18 shrink-0 pt-0.5 pl-3 font-sans text-small text-ink-2">{caption}</span>
      <div className="min-w-0 flex-1">
        {block.lines.length > 0 ? (
          <Block {...block} indented />
        ) : (
          <p className="px-2 font-sans text-small leading-5 text-ink-2">no lines</p>
        )}
      </div>
    </div>
  )
}

/** More of one stretch is not drawn: it goes or stays whatever is in it. */
const DRAWN = 400
/** Of a line; the rest is counted. */
const SHOWN = 2_000

interface BlockProps {
  lines: readonly string[]
  digits: number
  /** The number of the first line on each side; null where it is not on that one. */
  host: number | null
  sandbox: number | null
  sign?: '' | '+' | '−'
  tone?: string
  /** Beside a control, or a caption. */
  indented?: boolean
}

function Block({ lines, digits, host, sandbox, sign = '', tone = '', indented = false }: BlockProps) {
  return (
    <div className={indented ? '' : 'pl-8'}>
      {lines.slice(0, DRAWN).map((line, index) => {
        const text = line.replace(/\r?\n$/, '')
        return (
          <div key={index} className={`flex min-h-5 ${tone}`}>
            <LineNumber line={host === null ? null : host + index} digits={digits} />
            <LineNumber line={sandbox === null ? null : sandbox + index} digits={digits} />
            <span className={`w-6 shrink-0 text-center select-none ${sign === '−' ? 'text-bad' : 'text-ok'}`}>
              {sign}
            </span>
            <span className="min-w-0 flex-1 pr-3 whitespace-pre-wrap [overflow-wrap:anywhere] [tab-size:4]">
              {visible(text.slice(0, SHOWN))}
              {text.length > SHOWN ? <Note>{`and ${count(text.length - SHOWN, 'character')} more`}</Note> : null}
              {line.endsWith('\r\n') && sign !== '' ? <Note>CRLF</Note> : null}
              {line.endsWith('\n') ? null : <Note>no newline at the end</Note>}
            </span>
          </div>
        )
      })}
      {lines.length > DRAWN ? (
        <p className="px-3 font-sans text-small text-ink-2">and {count(lines.length - DRAWN, 'line')} more</p>
      ) : null}
    </div>
  )
}

const Note = ({ children }: { children: string }) => (
  <span className="pl-2 font-sans text-small text-ink-2 select-none">{children}</span>
)

const LineNumber = ({ line, digits }: { line: number | null; digits: number }) => (
  <span className="shrink-0 pl-1 text-right text-ink-3 select-none" style={{ width: `calc(${digits}ch + 4px)` }}>
    {line}
  </span>
)
