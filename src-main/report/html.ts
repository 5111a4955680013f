/** Text of foreign origin in a page: always text, what nobody would see written out. */
import { visible, visibleName } from '../contract/index.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const entities = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** Of many lines. */
export const escaped = (text: string): string => entities(visible(text))

/** Characters of a name that are shown. */
const NAME_LENGTH = 300

/** In one line; a giant one is cut. */
export const escapedName = (name: string): string => entities(visibleName(cut(name, NAME_LENGTH)))

/** Never half of a surrogate pair. */
export const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit).replace(/[\ud800-\udbff]$/, '')}…`
