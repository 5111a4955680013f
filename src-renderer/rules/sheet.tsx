/** The rules of a session: what it does by itself, and how much it may keep. */
import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react'
import type { RewindError, Rules, VerifierSpec } from '../../src-main/contract/index.ts'
import { visible } from '../../src-main/contract/text.ts'
import { fromRpcError } from '../../src-main/contract/wire.ts'
import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { Loading, ProblemLine } from '../elements/problem.tsx'
import { useHost, useSession } from '../host/context.ts'
import { type Field, formOf, type RulesForm, readForm, readVerifier } from './form.ts'
import { TryVerifier } from './try-verifier.tsx'

export function RulesSheet({ session, onClose }: { session: string; onClose(): void }) {
  const { rpc } = useHost()
  const [rules, setRules] = useState<Rules | null>(null)
  const [problem, setProblem] = useState<RewindError | null>(null)
  useEffect(() => {
    rpc.rules.get({ session }).then(setRules, (error) => setProblem(fromRpcError(error)))
  }, [rpc, session])
  return (
    <Dialog title="Rules" onClose={onClose} width="w-150">
      {rules ? <Form session={session} rules={rules} onRules={setRules} onClose={onClose} /> : null}
      {rules || problem ? null : (
        <div className="h-40">
          <Loading what="Reading the rules" />
        </div>
      )}
      {problem ? (
        <div className="flex flex-col gap-3 px-5 pb-4">
          <ProblemLine message={problem.message} nextStep={problem.nextStep} />
          <Button className="self-end" tall onClick={onClose}>
            Close
          </Button>
        </div>
      ) : null}
    </Dialog>
  )
}

interface FormProps {
  session: string
  rules: Rules
  onRules(rules: Rules): void
  onClose(): void
}

function Form({ session, rules, onRules, onClose }: FormProps) {
  const { rpc } = useHost()
  const labels = useSession((state) => state.details?.labels ?? NONE)
  const [form, setForm] = useState(() => formOf(rules))
  const [problems, setProblems] = useState<Partial<Record<Field, string>>>({})
  const [warnings, setWarnings] = useState<readonly string[]>([])
  const [failure, setFailure] = useState<RewindError | null>(null)
  const [busy, setBusy] = useState(false)
  const places = useId()
  const set = (change: Partial<RulesForm>) => {
    setForm({ ...form, ...change })
    setProblems({})
    setWarnings([])
  }
  const typedVerifier = (): VerifierSpec | null => {
    const read = readVerifier(form, rules)
    if (read.ok) return read.verifier
    setProblems(read.problems)
    return null
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const read = readForm(form, rules)
    setFailure(null)
    if (!read.ok) return setProblems(read.problems)
    setBusy(true)
    const told: string[] = []
    try {
      const { autoCheckpoint, autoRollback, retention } = read.wanted
      if (autoCheckpoint) onRules((await rpc.rules.autoCheckpoint({ session, ...autoCheckpoint })).rules)
      if (autoRollback) {
        const set = await rpc.rules.autoRollback({ session, ...autoRollback })
        onRules(set.rules)
        told.push(...set.warnings)
      }
      if (retention) onRules(await rpc.rules.retention({ session, ...retention }))
      if (told.length === 0) onClose()
      else setWarnings(told)
    } catch (error) {
      setFailure(fromRpcError(error))
    } finally {
      setBusy(false)
    }
  }
  const input = (field: Field, label: string, hint: string, width = 'w-24') => (
    <Input
      label={label}
      hint={hint}
      width={width}
      value={String(form[field])}
      problem={problems[field]}
      onChange={(value) => set({ [field]: value })}
      list={field === 'to' ? places : undefined}
    />
  )
  return (
    <form onSubmit={(event) => void submit(event)} className="flex min-h-0 flex-col" noValidate>
      <div className="flex min-h-0 flex-col gap-4 overflow-y-auto px-5 pb-1">
        <Part>
          <Check
            label="Checkpoint before every tool call"
            on={form.checkpoints}
            onChange={(checkpoints) => set({ checkpoints })}
          />
          {form.checkpoints ? input('keepLast', 'Keep the last', 'empty keeps all') : null}
        </Part>
        <Part>
          <Check label="Roll back by itself" on={form.rollbacks} onChange={(rollbacks) => set({ rollbacks })} />
          {form.rollbacks ? (
            <>
              <fieldset
                className="ml-6 flex flex-col gap-1"
                aria-describedby={problems.exception ? `${places}-e` : undefined}
              >
                <legend className="sr-only">When</legend>
                <Check
                  label="when a tool call fails"
                  on={form.exception}
                  onChange={(exception) => set({ exception })}
                />
                <Check
                  label="when the verifier says fail"
                  on={form.testFailure}
                  onChange={(testFailure) => set({ testFailure })}
                />
                {problems.exception ? <FieldProblem id={`${places}-e`}>{problems.exception}</FieldProblem> : null}
              </fieldset>
              {input('to', 'To', 'a label or id; latest is the newest automatic one', 'w-48')}
              {input('verifier', 'Verifier', 'a command that prints its verdict', 'w-64')}
              {form.verifier.trim() === '' ? null : (
                <>
                  {input('retries', 'Retries', 'of a verdict that is unknown')}
                  {input('delay', 'Between them', 'seconds')}
                  {input('timeout', 'Time limit', 'seconds; empty for none')}
                  {/* What was tried is gone once something else is typed. */}
                  <TryVerifier key={form.verifier + form.timeout} session={session} read={typedVerifier} />
                </>
              )}
            </>
          ) : null}
        </Part>
        <Part>{input('budget', 'Disk budget', 'GB; empty for none. Over it, points go: automatic ones first')}</Part>
        <datalist id={places}>
          {['latest', 'base', ...labels].map((label) => (
            <option key={label} value={label} />
          ))}
        </datalist>
        {failure ? <ProblemLine message={failure.message} nextStep={failure.nextStep} /> : null}
        {warnings.map((warning) => (
          <p key={warning} role="status" className="rounded-md bg-warn-soft px-3 py-2 text-small break-words">
            Saved. {visible(warning)}
          </p>
        ))}
      </div>
      <footer className="flex justify-end gap-2 px-5 py-4">
        <Button tall onClick={onClose}>
          {warnings.length > 0 ? 'Close' : 'Cancel'}
        </Button>
        <Button tall look="main" type="submit" busy={busy} disabled={busy}>
          Save
        </Button>
      </footer>
    </form>
  )
}

const NONE: readonly string[] = []

const Part = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-col gap-2 border-b border-line pb-4 last-of-type:border-0">{children}</div>
)

function Check({ label, on, onChange }: { label: string; on: boolean; onChange(on: boolean): void }) {
  return (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        checked={on}
        onChange={(event) => onChange(event.target.checked)}
        className="accent-accent"
      />
      {label}
    </label>
  )
}

interface InputProps {
  label: string
  hint: string
  width: string
  value: string
  problem: string | undefined
  list: string | undefined
  onChange(value: string): void
}

function Input({ label, hint, width, value, problem, list, onChange }: InputProps) {
  const id = useId()
  return (
    <div className="ml-6">
      <div className="flex items-center gap-2">
        <label htmlFor={id} className="w-28 shrink-0 text-ink-2">
          {label}
        </label>
        <input
          id={id}
          value={value}
          list={list}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={problem !== undefined}
          aria-describedby={`${id}-hint`}
          onChange={(event) => onChange(event.target.value)}
          className={`h-7 shrink-0 rounded-md border bg-base px-2 select-text ${width} ${problem === undefined ? 'border-line-strong' : 'border-bad'}`}
        />
        {problem === undefined ? (
          <span id={`${id}-hint`} className="min-w-0 text-small text-ink-3">
            {hint}
          </span>
        ) : (
          <FieldProblem id={`${id}-hint`}>{problem}</FieldProblem>
        )}
      </div>
    </div>
  )
}

const FieldProblem = ({ id, children }: { id: string; children: string }) => (
  <span id={id} role="alert" className="min-w-0 text-small text-bad">
    {children}
  </span>
)
