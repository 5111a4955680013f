/**
 * Anthropic's Messages format. Calls and results are blocks; all results of a turn stand at the beginning of the user turn
 * that follows at once. Assistant messages in a row are one turn to the provider, and so they are here: thinking is signed
 * for its turn, so a turn stays whole or goes whole.
 */
import type { Message } from '../../contract/index.ts'
import { isCueText } from '../cue.ts'
import type { Format } from '../format.ts'
import {
  type Call,
  cancelledText,
  joinParts,
  lastPlace,
  other,
  type Piece,
  PieceList,
  type Problem,
  pieceProblems,
  repairPieces,
  type Shape,
  told,
} from '../pieces.ts'
import {
  type Answered,
  argumentsObject,
  describePart,
  isObject,
  type Media,
  Notes,
  type Part,
  partsOf,
  type Said,
  type Spoken,
  said,
  text,
  unknown,
} from '../spoken.ts'
import { CallIds, isCallId } from './anthropic-ids.ts'

type Block = Record<string, unknown>

const roles = ['user', 'assistant'] as const

const blocksOf = ({ content }: Message): Block[] => (Array.isArray(content) ? content.filter(isObject) : [])
const isThinking = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking'

const callsOf = (message: Message): Call[] =>
  blocksOf(message)
    .filter(({ type }) => type === 'tool_use')
    .map((block) => ({
      key: text(block.id),
      title: typeof block.name === 'string' ? `${block.name} (call ${text(block.id)})` : `call ${text(block.id)}`,
      source: block,
    }))

function pieces(messages: readonly Message[]): Piece[] {
  const made = new PieceList()
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') {
      made.addToTurn({ ...other(at, message), kind: 'turn', calls: callsOf(message) })
    } else if (!Array.isArray(message.content) || message.content.length === 0) made.add(other(at, message))
    else
      for (const block of message.content as unknown[]) {
        const piece = other(at, { ...message, content: [block] })
        const result = isObject(block) && block.type === 'tool_result'
        made.add(result ? { ...piece, kind: 'result', key: text(block.tool_use_id) } : piece)
      }
  }
  return made.pieces
}

const shape: Shape = {
  results: 'at once',
  userFirst: true,
  pieces,
  cancelled: ({ key }) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: key, content: cancelledText, is_error: true }],
  }),
  join: (made, messages) => joinParts(made, messages, shape),
  settled(turn) {
    const messages = [...turn.messages]
    while (messages.length > 0) {
      const last = messages.at(-1)
      const content = last?.content
      if (!last || !Array.isArray(content)) break
      const end = content.findLastIndex((block: unknown) => !(isObject(block) && isThinking(block))) + 1
      if (end === content.length) break
      messages.pop()
      if (end > 0) messages.push({ ...last, content: content.slice(0, end) })
    }
    if (messages.length === turn.messages.length && messages.every((one, index) => one === turn.messages[index]))
      return turn
    return messages.length === 0 ? null : { ...turn, messages }
  },
}

const ownBlocks = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'mcp_tool_use',
  'mcp_tool_result',
  'container_upload',
  'compaction',
])
/** The server's tools answer by blocks of their own: web_search_tool_result, code_execution_tool_result and further ones. */
const isOwn = (block: Block): boolean => {
  const type = text(block.type)
  return ownBlocks.has(type) || type.endsWith('_tool_result')
}

function contentProblems(message: Message, index: number, last: boolean): Problem[] {
  const { role, content } = message
  const say = (problem: string) => ({ index, problem })
  if (content === undefined || content === null) return [say(`has no content, which ${text(role)} needs`)]
  const empty = content === '' || (Array.isArray(content) && content.length === 0)
  if (empty) return last && role === 'assistant' ? [] : [say('has empty content')]
  return blocksOf(message).flatMap((block) => {
    const { type } = block
    if (type === 'text' && block.text === '') return [say('holds an empty text block')]
    if (type === 'thinking' && typeof block.signature !== 'string') return [say('holds thinking without a signature')]
    if (type === 'tool_use' && role === 'user') return [say('is of the user and makes a call')]
    if (type === 'tool_result' && role === 'assistant') return [say('is of the assistant and holds a result')]
    return []
  })
}

/** What is wrong with the ids of calls; two of one turn with the same are told of with what is wrong in the turn. */
function idProblems(messages: readonly Message[]): Problem[] {
  const made = new Set<string>()
  return messages.flatMap((message, index) => {
    const calls = callsOf(message)
    const problems = calls.flatMap(({ key, title }): Problem[] => {
      if (key === '') return [{ index, problem: 'makes a call without an id' }]
      if (!isCallId(key))
        return [{ index, problem: `makes a call whose id is not of letters, digits, _ and - alone, ${title}` }]
      return made.has(key) ? [{ index, problem: `makes a call with the id of an earlier one, ${title}` }] : []
    })
    for (const { key } of calls) made.add(key)
    return problems
  })
}

export const anthropic: Format = {
  name: 'anthropic',
  title: "Anthropic's format",
  allowed: roles,
  refuse({ role }) {
    if (role === undefined) return 'has no role'
    if (role === 'system') return 'has the role "system", which is a parameter of the request here'
    return roles.some((known) => known === role) ? null : unknown('role', role, anthropic.title)
  },
  fits(message) {
    if (anthropic.refuse(message) !== null) return false
    if ('tool_calls' in message || 'parts' in message) return false
    const { content, type } = message
    // A message as the provider answered it has a type, and blocks.
    if (type !== undefined && (type !== 'message' || !Array.isArray(content))) return false
    if (typeof content === 'string') return true
    return Array.isArray(content) && content.every((block) => isObject(block) && isOwn(block))
  },
  repair: (messages) => repairPieces(messages, shape),
  validate(messages) {
    const problems = pieceProblems(messages, shape)
    if (messages[0]?.role === 'assistant') problems.push({ index: 0, problem: 'comes first and is not of the user' })
    for (const [index, message] of messages.entries())
      problems.push(...contentProblems(message, index, index === messages.length - 1))
    problems.push(...idProblems(messages))
    return told(problems)
  },
  isCue: (message) => message.role === 'user' && cuesIn(message.content),
  cueRole: 'user',
  withCue(messages, words) {
    const rest = anthropic.withoutCues(messages)
    const place = lastPlace(rest, shape)
    const before = rest[place - 1]
    const cue = { type: 'text', text: words }
    if (before?.role !== 'user')
      return [...rest.slice(0, place), { role: 'user', content: [cue] }, ...rest.slice(place)]
    return [...rest.slice(0, place - 1), { ...before, content: [...listOf(before.content), cue] }, ...rest.slice(place)]
  },
  withoutCues(messages) {
    return messages.flatMap((message, at) => {
      if (!anthropic.isCue(message)) return [message]
      const content = Array.isArray(message.content)
        ? message.content.filter((block: unknown) => !isCueBlock(block))
        : []
      if (content.length > 0) return [{ ...message, content }]
      // A history may begin with a cue, and the assistant go on from it: without a user turn it could not be kept.
      return at === 0 && messages[1]?.role === 'assistant' ? [{ role: 'user', content: afterRewind }] : []
    })
  },
  read(messages) {
    const notes = new Notes()
    const spoken = [...messages.entries()].map(([at, message]): Spoken => {
      notes.unread(at, message, ['role', 'content', 'id', 'type', 'model', 'stop_reason', 'stop_sequence', 'usage'])
      const parts = partsOf(message.content, (block) => readBlock(block, at, notes))
      return {
        at,
        role: message.role === 'assistant' ? 'assistant' : 'user',
        parts: parts.filter((part) => part !== null),
      }
    })
    return { messages: spoken, notes: notes.all }
  },
  write(spoken) {
    const notes = new Notes()
    const made: Message[] = []
    const ids = new CallIds()
    /** The blocks of the last turn, where it is the user's and holds nothing yet but results, and a cue. */
    let open: Block[] | null = null
    for (const [turn, { at, role, parts, name }] of spoken.entries()) {
      if (role === 'system' || role === 'developer') {
        notes.say(
          at,
          `a ${role} message has no place in the list (it is the request's system parameter) and was left out`,
        )
        continue
      }
      if (name !== undefined) notes.lost(at, 'the field name')
      const blocks = parts.flatMap((part) => writeBlock(withTakenId(part, ids, turn), at, notes))
      if (blocks.length === 0) notes.say(at, 'nothing is left of it, and it was left out')
      // What one user turn holds elsewhere in several messages stands in one here, the results first.
      else if (open && role === 'user') {
        for (const block of blocks) open.push(block)
        if (!blocks.every(letsGoOn)) open = null
      } else {
        open = role === 'user' && blocks.every(letsGoOn) ? blocks : null
        made.push({ role, content: open ?? plain(blocks) })
      }
    }
    return { messages: made, notes: notes.all }
  },
}

const letsGoOn = (block: Block): boolean => block.type === 'tool_result' || isCueBlock(block)

const afterRewind = 'The conversation went on here after a rewind.'

const isCueBlock = (block: unknown): boolean => isObject(block) && block.type === 'text' && isCueText(text(block.text))
const cuesIn = (content: unknown): boolean =>
  typeof content === 'string' ? isCueText(content) : Array.isArray(content) && content.some(isCueBlock)

function listOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}

/** One text alone is written as people write it. */
function plain(blocks: Block[]): unknown {
  const [only] = blocks
  return blocks.length === 1 && only?.type === 'text' ? only.text : blocks
}

function readBlock(block: Block, at: number, notes: Notes): Part | null {
  const read = (known: readonly string[], part: Part): Part => {
    notes.unread(at, block, ['type', ...known])
    return part
  }
  switch (block.type) {
    case 'text':
      return read(['text'], said(text(block.text)))
    case 'image':
    case 'document': {
      const media = readMedia(block)
      if (media) return read(['source', 'title'], media)
      break
    }
    case 'thinking':
      return read(['thinking', 'signature'], {
        kind: 'thought',
        by: 'anthropic',
        text: text(block.thinking),
        ...(typeof block.signature === 'string' ? { seal: block.signature } : {}),
      })
    case 'redacted_thinking':
      return read(['data'], { kind: 'thought', by: 'anthropic', text: '', seal: text(block.data), redacted: true })
    case 'tool_use':
      return read(['id', 'name', 'input'], {
        kind: 'call',
        id: text(block.id),
        name: text(block.name) || 'tool',
        input: block.input ?? {},
      })
    case 'tool_result': {
      const output = partsOf(block.content, (inner) => readBlock(inner, at, notes))
      return read(['tool_use_id', 'content', 'is_error'], {
        kind: 'result',
        id: text(block.tool_use_id),
        output: output.filter((part): part is Said | Media => part?.kind === 'text' || part?.kind === 'media'),
        failed: block.is_error === true,
      })
    }
  }
  notes.lost(at, `a block of the type ${text(block.type)}`)
  return null
}

function readMedia({ type, source, title }: Block): Media | null {
  if (!isObject(source)) return null
  const what = type === 'image' ? 'image' : 'file'
  const name = typeof title === 'string' ? { name: title } : {}
  if (source.type === 'url') return { kind: 'media', what, url: text(source.url), ...name }
  if (source.type !== 'base64') return null
  return { kind: 'media', what, data: text(source.data), mediaType: text(source.media_type), ...name }
}

function withTakenId(part: Part, ids: CallIds, turn: number): Part {
  if (part.kind === 'call') return { ...part, id: ids.ofCall(part.id, turn) }
  return part.kind === 'result' ? { ...part, id: ids.ofResult(part.id) } : part
}

function writeBlock(part: Part, at: number, notes: Notes): Block[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'media': {
      const media = writeMedia(part)
      if (!media) notes.lost(at, describePart(part))
      return media ? [media] : []
    }
    case 'thought':
      if (part.by !== 'anthropic' || part.seal === undefined) break
      return part.redacted
        ? [{ type: 'redacted_thinking', data: part.seal }]
        : [{ type: 'thinking', thinking: part.text, signature: part.seal }]
    case 'call':
      notes.rounded(at, part)
      return [{ type: 'tool_use', id: part.id, name: part.name, input: argumentsObject(part.input) }]
    case 'result':
      return [writeResult(part, at, notes)]
  }
  notes.lost(at, describePart(part))
  return []
}

function writeResult({ id, output, failed }: Answered, at: number, notes: Notes): Block {
  const content = output.flatMap((part) => writeBlock(part, at, notes))
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(content.length > 0 ? { content: plain(content) } : {}),
    ...(failed ? { is_error: true } : {}),
  }
}

function writeMedia({ what, url, data, mediaType, name }: Media): Block | null {
  if (what === 'audio') return null
  const source =
    url === undefined ? { type: 'base64', media_type: mediaType ?? 'image/png', data } : { type: 'url', url }
  if (what === 'image') return { type: 'image', source }
  const pdf = url !== undefined || mediaType === 'application/pdf'
  return pdf ? { type: 'document', source, ...(name === undefined ? {} : { title: name }) } : null
}
