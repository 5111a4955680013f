/**
 * Whether two values come out as the same JSON text, the order of keys included. Made for long histories of which nearly
 * all is as it was: comparing costs a fraction of writing it out.
 * @param known a value that came out of JSON
 * @returns false also where it cannot be told without writing (objects that are not plain)
 */
export function sameJson(value: unknown, known: unknown): boolean {
  if (value === known) return true
  if (typeof value !== 'object' || typeof known !== 'object' || value === null || known === null) return false
  if (Array.isArray(value)) return Array.isArray(known) && sameList(value, known)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (Array.isArray(known) || (prototype !== Object.prototype && prototype !== null)) return false
  const keys = Object.keys(value)
  const knownKeys = Object.keys(known)
  if (keys.length !== knownKeys.length) return false
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string
    if (key !== knownKeys[at]) return false
    if (!sameJson((value as Record<string, unknown>)[key], (known as Record<string, unknown>)[key])) return false
  }
  return true
}

function sameList(value: readonly unknown[], known: readonly unknown[]): boolean {
  if (value.length !== known.length) return false
  // A hole and a field beside the entries are no JSON: the value is written out then.
  if (Object.keys(value).length !== value.length) return false
  for (let at = 0; at < value.length; at++) if (!sameJson(value[at], known[at])) return false
  return true
}
