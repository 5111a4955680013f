/**
 * The messages of Vercel's AI SDK: model messages, whose calls and results are parts of an assistant and of a tool message,
 * and the messages of its user interface, where one part holds a call with its result and how far it came.
 */
import type { Message, Repair } from '../../contract/index.ts'
import { isCueText } from '../cue.ts'
import type { Format, Repaired } from '../format.ts'
import {
  type Call,
  cancelledText,
  joinParts,
  lastPlace,
  other,
  type Piece,
  type Problem,
  pieceProblems,
  repairPieces,
  type Shape,
  told,
} from '../pieces.ts'
import {
  type Answered,
  CallNames,
  isObject,
  type Media,
  mediaAt,
  Notes,
  type Part,
  partsOf,
  type Said,
  type Spoken,
  said,
  type Thought,
  text,
  unknown,
} from '../spoken.ts'

type Fields = Record<string, unknown>

const roles = ['system', 'user', 'assistant', 'tool'] as const

const partsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])
/** A message of the user interface. */
const isUi = ({ parts, role }: Message): boolean => Array.isArray(parts) && role !== 'tool'

function callsOf({ content }: Message): Call[] {
  return partsIn(content).flatMap((part): Call[] => {
    if (part.type === 'tool-approval-request')
      return [{ key: `approval:${text(part.approvalId)}`, title: `approval ${text(part.approvalId)}`, source: part }]
    // What the provider runs, it answers itself.
    if (part.type !== 'tool-call' || part.providerExecuted === true) return []
    const id = text(part.toolCallId)
    const title = typeof part.toolName === 'string' ? `${part.toolName} (call ${id})` : `call ${id}`
    return [{ key: `call:${id}`, title, source: part }]
  })
}

function answeredBy({ type, toolCallId, approvalId }: Fields): string | null {
  if (type === 'tool-result') return `call:${text(toolCallId)}`
  return type === 'tool-approval-response' ? `approval:${text(approvalId)}` : null
}

function pieces(messages: readonly Message[]): Piece[] {
  return messages.flatMap((message, at): Piece[] => {
    if (message.role === 'assistant' && !isUi(message))
      return [{ ...other(at, message), kind: 'turn', calls: callsOf(message) }]
    const { content } = message
    if (message.role !== 'tool' || !Array.isArray(content) || content.length === 0) return [other(at, message)]
    return content.map((part: unknown) => {
      const piece = other(at, { ...message, content: [part] })
      const key = isObject(part) ? answeredBy(part) : null
      return key === null ? piece : { ...piece, kind: 'result', key }
    })
  })
}

const shape: Shape = {
  results: 'at once',
  pieces,
  cancelled({ key, source }) {
    const separator = key.indexOf(':')
    const [kind, id] = [key.slice(0, separator), key.slice(separator + 1)]
    const toolName = (isObject(source) ? text(source.toolName) : '') || 'tool'
    const part =
      kind === 'call'
        ? { type: 'tool-result', toolCallId: id, toolName, output: { type: 'error-text', value: cancelledText } }
        : { type: 'tool-approval-response', approvalId: id, approved: false, reason: cancelledText }
    return { role: 'tool', content: [part] }
  },
  join: (made, messages) => joinParts(made, messages, shape),
}

const isUiTool = ({ type }: Fields): boolean => type === 'dynamic-tool' || text(type).startsWith('tool-')
const ended = new Set(['output-available', 'output-error', 'output-denied'])
const waits = (part: Fields): boolean =>
  isUiTool(part) && part.providerExecuted !== true && !ended.has(text(part.state))

/** The steps of a message of the user interface: what the model put out at once, each a turn. */
function stepsOf(message: Message): Fields[][] {
  const steps: Fields[][] = [[]]
  for (const part of partsIn(message.parts)) {
    if (part.type === 'step-start' && steps.at(-1)?.length !== 0) steps.push([])
    steps.at(-1)?.push(part)
  }
  return steps
}

const uiTitle = ({ type, toolName, toolCallId }: Fields): string =>
  `${text(toolName) || text(type).replace(/^tool-/, '')} (call ${text(toolCallId)})`

/** The same rules within one message: a step that nobody answered goes, one that is answered in part is completed. */
function repairUi(message: Message, at: number): { message: Message | null; repairs: Repair[] } {
  const repairs: Repair[] = []
  const parts = stepsOf(message).flatMap((step) => {
    const open = step.filter(waits)
    if (open.length === 0) return step
    if (!step.some((part) => isUiTool(part) && ended.has(text(part.state)))) {
      repairs.push({
        kind: 'dropped-turn',
        note: `Dropped from messages[${at}]: no result for ${open.map(uiTitle).join(', ')}.`,
      })
      return []
    }
    return step.map((part) => {
      if (!waits(part)) return part
      repairs.push({
        kind: 'added-result',
        note: `Added a result for ${uiTitle(part)} of messages[${at}]: cancelled by the rollback.`,
      })
      return { ...part, state: 'output-error', input: part.input ?? {}, errorText: cancelledText }
    })
  })
  if (repairs.length === 0) return { message, repairs }
  return { message: parts.every(({ type }) => type === 'step-start') ? null : { ...message, parts }, repairs }
}

function repair(messages: readonly Message[]): Repaired {
  const done = repairPieces(messages, shape)
  const places = new Map(messages.map((message, at) => [message, at]))
  const repairs = [...done.repairs]
  const kept = done.messages.flatMap((message) => {
    if (!isUi(message) || message.role !== 'assistant') return [message]
    const ui = repairUi(message, places.get(message) ?? 0)
    repairs.push(...ui.repairs)
    return ui.message ? [ui.message] : []
  })
  return { messages: kept, repairs }
}

const ownParts: Readonly<Record<string, ReadonlySet<string>>> = {
  user: new Set(['text', 'image', 'file']),
  assistant: new Set([
    'text',
    'file',
    'reasoning',
    'reasoning-file',
    'custom',
    'tool-call',
    'tool-result',
    'tool-approval-request',
  ]),
  tool: new Set(['tool-result', 'tool-approval-response']),
}

export const vercel: Format = {
  name: 'vercel',
  title: "the AI SDK's format",
  allowed: roles,
  refuse({ role }) {
    if (role === undefined) return 'has no role'
    return roles.some((known) => known === role) ? null : unknown('role', role, vercel.title)
  },
  fits(message) {
    if (vercel.refuse(message) !== null || message.type !== undefined) return false
    if ('tool_calls' in message || 'tool_call_id' in message) return false
    if (isUi(message)) return true
    const { content, role } = message
    if (typeof content === 'string') return role !== 'tool'
    const own = ownParts[text(role)]
    return Array.isArray(content) && content.every((part) => isObject(part) && own?.has(text(part.type)) === true)
  },
  repair,
  validate(messages) {
    const problems = pieceProblems(messages, shape)
    for (const [index, message] of messages.entries())
      problems.push(...(isUi(message) ? uiProblems(message, index) : contentProblems(message, index)))
    return told(problems)
  },
  isCue(message) {
    if (message.role !== 'system') return false
    const [first, ...more] = isUi(message) ? partsIn(message.parts) : []
    return more.length === 0 && isCueText(text(first ? first.text : message.content))
  },
  cueRole: 'system',
  withCue(messages, words) {
    const rest = vercel.withoutCues(messages)
    const place = lastPlace(rest, shape)
    const last = rest.at(-1)
    const cue =
      last && isUi(last)
        ? { id: 'rewind-cue', role: 'system', parts: [{ type: 'text', text: words }] }
        : { role: 'system', content: words }
    return [...rest.slice(0, place), cue, ...rest.slice(place)]
  },
  withoutCues: (messages) => messages.filter((message) => !vercel.isCue(message)),
  read(messages) {
    const notes = new Notes()
    const spoken = [...messages.entries()].flatMap(([at, message]) =>
      isUi(message) ? readUi(message, at, notes) : [readMessage(message, at, notes)],
    )
    return { messages: spoken, notes: notes.all }
  },
  write(spoken) {
    const notes = new Notes()
    const names = new CallNames()
    const made: Message[] = []
    /** The results of the last message, where it holds such. */
    let open: Fields[] | null = null
    for (const one of spoken) {
      names.note(one.parts)
      for (const message of writeMessage(one, names, notes)) {
        const results = message.role === 'tool' ? partsIn(message.content) : null
        // The results of one turn stand in one message.
        if (open && results) for (const result of results) open.push(result)
        else {
          open = results
          made.push(open ? { ...message, content: open } : message)
        }
      }
    }
    return { messages: made, notes: notes.all }
  },
}

function contentProblems(message: Message, index: number): Problem[] {
  const { role, content } = message
  const say = (problem: string) => ({ index, problem })
  if (content === undefined || content === null) return [say(`has no content, which ${text(role)} needs`)]
  if (role === 'system' && typeof content !== 'string') return [say('is of the system and no text')]
  if (role === 'tool' && !Array.isArray(content)) return [say('is of a tool and no list of results')]
  return callsOf(message)
    .filter(({ key }) => key.endsWith(':'))
    .map(({ title }) => say(`makes a call without an id, ${title.trim()}`))
}

const uiProblems = (message: Message, index: number): Problem[] =>
  partsIn(message.parts)
    .filter((part) => message.role === 'assistant' && waits(part))
    .map((part) => ({ index, problem: `has no result for ${uiTitle(part)}` }))

function readMessage(message: Message, at: number, notes: Notes): Spoken {
  notes.unread(at, message, ['role', 'content', 'id'])
  const role = message.role === 'system' || message.role === 'assistant' ? message.role : 'user'
  const parts = partsOf(message.content, (part) => readPart(part, at, notes))
  return { at, role, parts: parts.filter((part) => part !== null) }
}

/** A message of the user interface, as the turns and results that it stands for. */
function readUi(message: Message, at: number, notes: Notes): Spoken[] {
  notes.unread(at, message, ['id', 'role', 'parts', 'content'])
  const role = message.role === 'system' || message.role === 'assistant' ? message.role : 'user'
  return stepsOf(message).flatMap((step) => {
    const spoken: Part[] = []
    const results: Answered[] = []
    for (const part of step) {
      if (part.type === 'step-start') continue
      if (!isUiTool(part)) {
        const read = readPart(part, at, notes)
        if (read) spoken.push(read)
        continue
      }
      const name = text(part.toolName) || text(part.type).replace(/^tool-/, '')
      spoken.push({ kind: 'call', id: text(part.toolCallId), name, input: part.input ?? {} })
      if (!ended.has(text(part.state))) continue
      const failed = part.state !== 'output-available'
      const output = failed ? text(part.errorText) : part.output
      results.push({ kind: 'result', id: text(part.toolCallId), name, output: [said(wordsOf(output))], failed })
    }
    const turn: Spoken[] = spoken.length > 0 || role !== 'assistant' ? [{ at, role, parts: spoken }] : []
    return results.length > 0 ? [...turn, { at, role: 'user', parts: results }] : turn
  })
}

const wordsOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

function readPart(part: Fields, at: number, notes: Notes): Part | null {
  const read = (known: readonly string[], found: Part): Part => {
    notes.unread(at, part, ['type', 'state', ...known])
    return found
  }
  switch (part.type) {
    case 'text':
      return read(['text'], said(text(part.text)))
    case 'image':
      if (typeof part.image === 'string') return read(['image', 'mediaType'], mediaOf('image', part.image, part))
      break
    case 'file': {
      const source = part.data ?? part.url
      const what = text(part.mediaType).startsWith('image/') ? 'image' : 'file'
      if (typeof source === 'string') return read(['data', 'url', 'mediaType', 'filename'], mediaOf(what, source, part))
      break
    }
    case 'reasoning':
      return read(['text', 'providerOptions', 'providerMetadata'], readThought(part))
    case 'tool-call':
      if (part.providerExecuted === true) break
      return read(['toolCallId', 'toolName', 'input', 'args'], {
        kind: 'call',
        id: text(part.toolCallId),
        name: text(part.toolName) || 'tool',
        input: part.input ?? part.args ?? {},
      })
    case 'tool-result':
      return read(['toolCallId', 'toolName', 'output', 'result', 'isError'], readResult(part, at, notes))
  }
  notes.lost(at, `a part of the type ${text(part.type)}`)
  return null
}

/** Text that is no address is the bytes themselves, in base64. */
function mediaOf(what: Media['what'], source: string, { mediaType, filename }: Fields): Media {
  const more = {
    ...(typeof mediaType === 'string' ? { mediaType } : {}),
    ...(typeof filename === 'string' ? { name: filename } : {}),
  }
  return /^[a-z][a-z0-9+.-]*:/i.test(source)
    ? mediaAt(what, source, more)
    : { kind: 'media', what, data: source, ...more }
}

function readThought(part: Fields): Thought {
  const options = isObject(part.providerOptions ?? part.providerMetadata)
    ? ((part.providerOptions ?? part.providerMetadata) as Fields)
    : {}
  const words = text(part.text)
  if (isObject(options.openai)) {
    const { itemId, reasoningEncryptedContent: seal } = options.openai
    return {
      kind: 'thought',
      by: 'openai',
      text: words,
      ...(typeof seal === 'string' ? { seal } : {}),
      ...(typeof itemId === 'string' ? { id: itemId } : {}),
    }
  }
  const signed = isObject(options.anthropic) ? options.anthropic : {}
  if (typeof signed.redactedData === 'string')
    return { kind: 'thought', by: 'anthropic', text: words, seal: signed.redactedData, redacted: true }
  return {
    kind: 'thought',
    by: 'anthropic',
    text: words,
    ...(typeof signed.signature === 'string' ? { seal: signed.signature } : {}),
  }
}

function readResult(part: Fields, at: number, notes: Notes): Answered {
  const { output, result } = part
  const kind = isObject(output) ? text(output.type) : ''
  const value = isObject(output) ? (output.value ?? output.reason) : (output ?? result)
  const name = typeof part.toolName === 'string' ? { name: part.toolName } : {}
  const parts =
    kind === 'content' && Array.isArray(value)
      ? notes.kept(at, partsOf(value, readOutput)).filter((one): one is Said | Media => one.kind !== 'call')
      : [said(wordsOf(value))]
  const failed = kind.startsWith('error') || kind === 'execution-denied' || part.isError === true
  return { kind: 'result', id: text(part.toolCallId), ...name, output: parts, failed }
}

function readOutput(part: Fields): Said | Media | null {
  if (part.type === 'text') return said(text(part.text))
  const media = /^(image|file|media)(?:-data|-url)?$/.exec(text(part.type))
  const source = part.data ?? part.url
  if (!media || typeof source !== 'string') return null
  const picture = media[1] === 'image' || text(part.mediaType).startsWith('image/')
  return mediaOf(picture ? 'image' : 'file', source, part)
}

function writeMessage({ at, role, parts, name }: Spoken, names: CallNames, notes: Notes): Message[] {
  if (name !== undefined && role !== 'assistant') notes.lost(at, 'the field name')
  for (const part of parts) if (part.kind === 'call') notes.rounded(at, part)
  const results = parts
    .filter((part) => part.kind === 'result')
    .map((part) => ({
      type: 'tool-result',
      toolCallId: part.id,
      toolName: names.of(part),
      output: writeOutput(part),
    }))
  const made: Message[] = results.length > 0 ? [{ role: 'tool', content: results }] : []
  const rest = parts.filter((part) => part.kind !== 'result')
  if (results.length > 0 && rest.length === 0) return made
  if (role === 'system' || role === 'developer') {
    const words = rest.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    if (words.length < rest.length) notes.lost(at, 'what is no text')
    return [...made, { role: 'system', content: words.join('\n') }]
  }
  const [only] = rest
  if (!only) return role === 'assistant' ? made : [...made, { role, content: '' }]
  if (rest.length === 1 && only.kind === 'text') return [...made, { role, content: only.text }]
  return [...made, { role, content: rest.flatMap((part) => writePart(part)) }]
}

function writePart(part: Part): Fields[] {
  switch (part.kind) {
    case 'text':
      return [{ type: 'text', text: part.text }]
    case 'media':
      return [writeMedia(part)]
    case 'thought':
      return [writeThought(part)]
    case 'call':
      return [{ type: 'tool-call', toolCallId: part.id, toolName: part.name, input: part.input }]
    case 'result':
      return []
  }
}

const writeMedia = ({ what, url, data, mediaType, name }: Media): Fields => ({
  type: 'file',
  data: url ?? data ?? '',
  mediaType: mediaType ?? (what === 'image' ? 'image/*' : 'application/octet-stream'),
  ...(name === undefined ? {} : { filename: name }),
})

function writeThought({ by, text: words, seal, id, redacted }: Thought): Fields {
  if (by === 'anthropic') {
    const signed = redacted ? { redactedData: seal } : { signature: seal }
    return { type: 'reasoning', text: words, ...(seal === undefined ? {} : { providerOptions: { anthropic: signed } }) }
  }
  const openai = {
    ...(id === undefined ? {} : { itemId: id }),
    ...(seal === undefined ? {} : { reasoningEncryptedContent: seal }),
  }
  return { type: 'reasoning', text: words, providerOptions: { openai } }
}

function writeOutput({ output, failed }: Answered): Fields {
  const words = output.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  if (words.length === output.length) return { type: failed ? 'error-text' : 'text', value: words.join('\n') }
  return {
    type: 'content',
    value: output.map((part) =>
      part.kind === 'text'
        ? { type: 'text', text: part.text }
        : part.url === undefined
          ? { type: 'media', data: part.data ?? '', mediaType: part.mediaType ?? 'image/png' }
          : { type: 'image-url', url: part.url },
    ),
  }
}
