/** Files of the workspace in the sandbox: written, read, compared. */
import { Buffer } from 'node:buffer'
import { z } from 'zod'
import { InvalidOptionError, lastSaved } from '../../contract/index.ts'
import { changeLetter } from '../../diff/index.ts'
import { defineTool, type Tool } from '../tool.ts'
import { countsField } from './shapes.ts'

/** Bytes of a file that a model can still do something with. */
const FILE_LIMIT = 1 << 20
/** Paths of a difference that one answer lists. */
const PATHS_LISTED = 500

const path = z.string().min(1).describe('in the workspace: relative to it, or its whole path')
const encoding = z.enum(['utf-8', 'base64'])

const write = defineTool({
  name: 'write_sandbox_file',
  title: 'Write a file in the sandbox',
  description: 'Writes a whole file in the sandbox; folders above it are made. The real project is not touched.',
  input: { path, content: z.string(), encoding: encoding.default('utf-8') },
  output: { path: z.string(), target: z.string(), status: z.literal('written'), bytes: z.number() },
  effect: 'destroys',
  idempotent: true,
  async run({ host, session, epoch }, { path, content, encoding }) {
    if (encoding === 'base64' && Buffer.from(content, 'base64').toString('base64') !== content.replaceAll(/\s/g, ''))
      throw new InvalidOptionError('The content is not base64.', { nextStep: 'Encode it, or send it as utf-8.' })
    const bytes = Buffer.byteLength(content, encoding === 'base64' ? 'base64' : 'utf8')
    const { target } = await host.files.write({ session, epoch, path, content, encoding, tool: 'write_sandbox_file' })
    return { data: { path, target, status: 'written' as const, bytes } }
  },
})

const read = defineTool({
  name: 'read_sandbox_file',
  title: 'Read a file in the sandbox',
  description:
    'A whole file of the sandbox, as it stands or as it was at a checkpoint. Up to 1 MB; read parts of a larger one by a command.',
  input: {
    path,
    encoding: encoding.optional().describe('left out: text where the bytes are UTF-8, else base64'),
    at: z.string().min(1).default('now').describe('label or id of a checkpoint'),
  },
  output: { path: z.string(), content: z.string(), encoding, bytes: z.number() },
  effect: 'reads',
  async run({ host, session }, { path, encoding, at }) {
    await host.rules.onToolCall({ session, tool: 'read_sandbox_file' })
    const found = await host.files.read({ session, path, at, encoding: encoding ?? null })
    const bytes = Buffer.byteLength(found.content, found.encoding === 'base64' ? 'base64' : 'utf8')
    if (bytes > FILE_LIMIT)
      throw new InvalidOptionError(`${path} has ${bytes} bytes, which is more than one answer holds (${FILE_LIMIT}).`, {
        nextStep: 'Read a part of it with execute_sandbox_command: sed -n, head -c, tail -c.',
      })
    return { data: { path, ...found, bytes } }
  },
})

const diff = defineTool({
  name: 'get_sandbox_diff',
  title: 'What changed in the sandbox',
  description:
    'Paths that differ between two checkpoints, or between one and now: A added, M modified, D deleted, T another type, ' +
    'P permissions. Without `from` since the newest checkpoint; `base` is the project as it was.',
  input: {
    from: z.string().min(1).optional().describe('label or id of a checkpoint; the newest one by default'),
    to: z.string().min(1).default('now').describe('label or id of a checkpoint'),
  },
  output: {
    from: z.string(),
    to: z.string(),
    changes: z.array(
      z.object({ path: z.string(), letter: z.string(), before: z.number().nullable(), after: z.number().nullable() }),
    ),
    counts: countsField,
    truncated: z.boolean().describe('more paths differ than are listed'),
  },
  effect: 'reads',
  async run({ host, session }, { from, to }) {
    const found = await host.files.changes({
      session,
      from: from ?? (await newest(host, session)),
      to,
      limit: PATHS_LISTED,
    })
    const changes = found.changes.map(({ path, status, before, after }) => ({
      path,
      letter: changeLetter(status),
      before,
      after,
    }))
    return { data: { from: found.from, to: found.to, changes, counts: found.counts, truncated: found.truncated } }
  },
})

async function newest(host: Parameters<Tool['run']>[0]['host'], session: string): Promise<string> {
  const { points, head } = await host.timeline.get({ session })
  return lastSaved(points, head)?.id ?? 'base'
}

export const fileTools: readonly Tool[] = [write, read, diff]
