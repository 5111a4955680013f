/**
 * Whether two values come out as the same JSON text, the order of keys included. Made for long histories of which nearly
 * all is as it was: comparing costs a fraction of writing it out.
 * @param known a value that came out of JSON
 * @returns false also where it cannot be told without writing (objects that are not plain)
 */
export function sameJson(value: unknown, known: unknown): boolean {
  if (value === known) return true
  if (typeof value !== 'object' || typeof known !== 'object' || value === null || known === null) return false
  if (Array.isArray(value)) {
    if (!Array.isArray(known) || value.length !== known.length) return false
    return value.every((inner, index) => sameJson(inner, known[index])) && Object.keys(value).length === value.length
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (Array.isArray(known) || (prototype !== Object.prototype && prototype !== null)) return false
  const keys = Object.keys(value)
  const knownKeys = Object.keys(known)
  if (keys.length !== knownKeys.length) return false
  return keys.every(
    (key, index) =>
      key === knownKeys[index] &&
      sameJson((value as Record<string, unknown>)[key], (known as Record<string, unknown>)[key]),
  )
}
