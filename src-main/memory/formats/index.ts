/** Every format, in the order in which `auto` prefers them where a history fits several. */
import type { StoredFormat } from '../../contract/index.ts'
import type { Format } from '../format.ts'
import { anthropic } from './anthropic.ts'
import { langchain } from './langchain.ts'
import { openai } from './openai.ts'
import { openaiResponses } from './openai-responses.ts'
import { vercel } from './vercel.ts'

export const formats: readonly Format[] = [openai, anthropic, vercel, openaiResponses, langchain]

const byName = new Map(formats.map((format) => [format.name, format]))

export function formatOf(name: StoredFormat): Format {
  const format = byName.get(name)
  if (!format) throw new Error(`there is no format ${name}`)
  return format
}
