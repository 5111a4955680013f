/** @returns at most `limit` characters, never half of a surrogate pair, and how many were left out. */
export function clip(text: string, limit: number): { text: string; left: number } {
  if (text.length <= limit) return { text, left: 0 }
  const end = /[\ud800-\udbff]/.test(text.charAt(limit - 1)) ? limit - 1 : limit
  return { text: text.slice(0, end), left: text.length - end }
}
