/**
 * Conversations told once and written in every format, for tests: what is said in them is known apart from how it is
 * written, so a test can say what a cut conversation must keep without asking the code that repairs it.
 */
import fc from 'fast-check'
import type { Message, StoredFormat } from '../contract/index.ts'

/** One thing that happens. Each carries a mark that is found nowhere else. */
export type Step =
  | { kind: 'user'; mark: string; image: boolean }
  | { kind: 'answer'; mark: string; thought: string | null }
  | { kind: 'turn'; mark: string; thought: string | null; calls: { id: string; mark: string }[] }
  /** The results of the last turn, in some order; together in one message where the format can. */
  | { kind: 'results'; together: boolean; of: { id: string; mark: string }[] }

const ids = fc.constantFrom('1', '2', '3', '4')

/** The mark of what the model thought, made up later; null where it did not think. */
const thought = fc.constantFrom('', null)

const turn = fc
  .record({
    ids: fc.uniqueArray(ids, { minLength: 1, maxLength: 4 }),
    order: fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
    thought,
    together: fc.boolean(),
  })
  .map(({ ids: used, order, thought, together }): Step[] => {
    const calls = used.map((id) => ({ id, mark: '' }))
    const shuffled = calls
      .map((call, at) => [order[at] ?? 0, call] as const)
      .sort(([a], [b]) => a - b)
      .map(([, call]) => ({ ...call }))
    return [
      { kind: 'turn', mark: '', thought, calls },
      { kind: 'results', together, of: shuffled },
    ]
  })

const rest = fc.oneof(
  fc.boolean().map((image): Step[] => [{ kind: 'user', mark: '', image }]),
  thought.map((thinks): Step[] => [
    { kind: 'answer', mark: '', thought: thinks },
    { kind: 'user', mark: '', image: false },
  ]),
)

/** Whole conversations, whose turns use ids again. */
export const story: fc.Arbitrary<Step[]> = fc
  .array(fc.oneof({ weight: 3, arbitrary: turn }, { weight: 2, arbitrary: rest }), { maxLength: 8 })
  .map((parts) => marked([{ kind: 'user', mark: '', image: false }, ...parts.flat()]))

function marked(steps: Step[]): Step[] {
  let next = 0
  const mark = () => `mark-${next++}-`
  return steps.map((step) => {
    if (step.kind === 'results') return { ...step, of: step.of.map(({ id }) => ({ id, mark: mark() })) }
    const thinks = 'thought' in step && step.thought !== null ? { thought: mark() } : {}
    const named = { ...step, ...thinks, mark: mark() }
    return named.kind === 'turn' ? { ...named, calls: named.calls.map(({ id }) => ({ id, mark: mark() })) } : named
  })
}

const pixel = 'iVBORw0KGgo='
const seal = (mark: string) => `sealed ${mark}`

type Writer = (step: Step) => Message[]

const openai: Writer = (step) => {
  switch (step.kind) {
    case 'user': {
      const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }
      const content = step.image ? [{ type: 'text', text: step.mark }, image] : step.mark
      return [{ role: 'user', content }]
    }
    case 'answer':
      return [{ role: 'assistant', content: step.mark }]
    case 'turn':
      return [
        {
          role: 'assistant',
          content: step.mark,
          tool_calls: step.calls.map(({ id, mark }) => ({
            id,
            type: 'function',
            function: { name: 'run', arguments: JSON.stringify({ mark }) },
          })),
        },
      ]
    case 'results':
      return step.of.map(({ id, mark }) => ({ role: 'tool', tool_call_id: id, content: mark }))
  }
}

const responses: Writer = (step) => {
  const thinking = (mark: string): Message => ({
    type: 'reasoning',
    id: `rs_${mark}`,
    summary: [],
    encrypted_content: seal(mark),
  })
  const words = (mark: string): Message => ({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: mark, annotations: [] }],
  })
  switch (step.kind) {
    case 'user': {
      const image = { type: 'input_image', image_url: `data:image/png;base64,${pixel}`, detail: 'auto' }
      const content = [{ type: 'input_text', text: step.mark }, ...(step.image ? [image] : [])]
      return [{ type: 'message', role: 'user', content }]
    }
    case 'answer':
      return [...(step.thought ? [thinking(step.thought)] : []), words(step.mark)]
    case 'turn':
      return [
        ...(step.thought ? [thinking(step.thought)] : []),
        words(step.mark),
        ...step.calls.map(({ id, mark }) => ({
          type: 'function_call',
          call_id: id,
          name: 'run',
          arguments: JSON.stringify({ mark }),
        })),
      ]
    case 'results':
      return step.of.map(({ id, mark }) => ({ type: 'function_call_output', call_id: id, output: mark }))
  }
}

const anthropic: Writer = (step) => {
  const thinking = (mark: string) => ({ type: 'thinking', thinking: mark, signature: seal(mark) })
  switch (step.kind) {
    case 'user': {
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }
      const content = step.image ? [image, { type: 'text', text: step.mark }] : step.mark
      return [{ role: 'user', content }]
    }
    case 'answer':
    case 'turn': {
      const calls = step.kind === 'turn' ? step.calls : []
      const content = [
        ...(step.thought ? [thinking(step.thought)] : []),
        { type: 'text', text: step.mark },
        ...calls.map(({ id, mark }) => ({ type: 'tool_use', id, name: 'run', input: { mark } })),
      ]
      return [{ role: 'assistant', content }]
    }
    case 'results': {
      const blocks = step.of.map(({ id, mark }) => ({ type: 'tool_result', tool_use_id: id, content: mark }))
      if (step.together) return [{ role: 'user', content: blocks }]
      return blocks.map((block) => ({ role: 'user', content: [block] }))
    }
  }
}

/** The form goes by the mark, so that a conversation is written in all of them. */
const langchain: Writer = (step) => {
  const formed = (type: 'human' | 'ai' | 'tool', fields: Record<string, unknown>, mark: string): Message => {
    const role = { human: 'user', ai: 'assistant', tool: 'tool' }[type]
    const name = { human: 'HumanMessage', ai: 'AIMessage', tool: 'ToolMessage' }[type]
    switch (mark.length % 4) {
      case 0:
        return { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', name], kwargs: fields }
      case 1:
        return { type, data: fields }
      case 2:
        return { type, ...fields }
      default:
        return { role, ...fields }
    }
  }
  const thinking = (mark: string) => ({ type: 'thinking', thinking: mark, signature: seal(mark) })
  switch (step.kind) {
    case 'user': {
      const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }
      const content = step.image ? [{ type: 'text', text: step.mark }, image] : step.mark
      return [formed('human', { content }, step.mark)]
    }
    case 'answer':
    case 'turn': {
      const content = step.thought ? [thinking(step.thought), { type: 'text', text: step.mark }] : step.mark
      const calls = step.kind === 'turn' ? step.calls : []
      const made = calls.map(({ id, mark }) => ({ type: 'tool_call', id, name: 'run', args: { mark } }))
      const fields = { content, ...(made.length > 0 ? { tool_calls: made } : {}) }
      return [formed('ai', fields, step.mark)]
    }
    case 'results':
      return step.of.map(({ id, mark }) => formed('tool', { content: mark, tool_call_id: id, status: 'success' }, mark))
  }
}

const vercel: Writer = (step) => {
  const thinking = (mark: string) => ({
    type: 'reasoning',
    text: mark,
    providerOptions: { anthropic: { signature: seal(mark) } },
  })
  switch (step.kind) {
    case 'user': {
      const image = { type: 'file', data: pixel, mediaType: 'image/png' }
      const content = step.image ? [{ type: 'text', text: step.mark }, image] : step.mark
      return [{ role: 'user', content }]
    }
    case 'answer':
    case 'turn': {
      const calls = step.kind === 'turn' ? step.calls : []
      const content = [
        ...(step.thought ? [thinking(step.thought)] : []),
        { type: 'text', text: step.mark },
        ...calls.map(({ id, mark }) => ({ type: 'tool-call', toolCallId: id, toolName: 'run', input: { mark } })),
      ]
      return [{ role: 'assistant', content }]
    }
    case 'results': {
      const parts = step.of.map(({ id, mark }) => ({
        type: 'tool-result',
        toolCallId: id,
        toolName: 'run',
        output: { type: 'text', value: mark },
      }))
      if (step.together) return [{ role: 'tool', content: parts }]
      return parts.map((part) => ({ role: 'tool', content: [part] }))
    }
  }
}

const writers: Readonly<Record<StoredFormat, Writer>> = {
  openai,
  'openai-responses': responses,
  anthropic,
  langchain,
  vercel,
}

export const writtenIn = (format: StoredFormat, steps: readonly Step[]): Message[] =>
  (format === 'anthropic' ? withOwnIds(steps) : steps).flatMap(writers[format])

/** Anthropic takes an id once in a request: here each turn's ids are its own. */
function withOwnIds(steps: readonly Step[]): Step[] {
  let turn = 0
  const own = <T extends { id: string }>(list: T[]): T[] => list.map((one) => ({ ...one, id: `${one.id}-${turn}` }))
  return steps.map((step) => {
    if (step.kind === 'results') return { ...step, of: own(step.of) }
    if (step.kind !== 'turn') return step
    turn++
    return { ...step, calls: own(step.calls) }
  })
}

/**
 * The marks that a history must hold after repair, given those that the cut one holds: the rule in the story's words. A turn
 * of which some call's result is there stays whole; one without any goes, with all that the model said and thought in it;
 * everything else stays, but for reasoning whose words were cut.
 */
export function marksToKeep(steps: readonly Step[], held: ReadonlySet<string>): Set<string> {
  const keep = new Set<string>()
  const stays = (step: { mark: string; thought?: string | null }) => {
    keep.add(step.mark)
    // Reasoning that was cut off from what it led to goes.
    if (step.thought && held.has(step.mark)) keep.add(step.thought)
  }
  for (const [index, step] of steps.entries()) {
    if (step.kind === 'results') continue
    if (step.kind !== 'turn') {
      stays(step)
      continue
    }
    const next = steps[index + 1]
    const results = next?.kind === 'results' ? next.of.filter(({ mark }) => held.has(mark)) : []
    if (results.length === 0 && step.calls.some(({ mark }) => held.has(mark))) continue
    stays(step)
    for (const { mark } of [...step.calls, ...results]) keep.add(mark)
  }
  return new Set([...keep].filter((mark) => held.has(mark)))
}

export const marksIn = (value: unknown): Set<string> => new Set(JSON.stringify(value).match(/mark-\d+-/g) ?? [])
