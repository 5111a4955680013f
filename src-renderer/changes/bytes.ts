/** Bytes as people read them. */

/** Where two texts of bytes part; null where neither goes on differently. */
export function firstDifference(before: Uint8Array, after: Uint8Array): number | null {
  const shorter = Math.min(before.length, after.length)
  for (let at = 0; at < shorter; at++) if (before[at] !== after[at]) return at
  return before.length === after.length ? null : shorter
}

export interface HexCell {
  hex: string
  /** As ASCII, where it is that and can be seen. */
  char: string
  differs: boolean
}

export interface HexRow {
  offset: string
  before: HexCell[]
  after: HexCell[]
}

/**
 * Rows of `perRow` bytes.
 * @param offset of the first byte: a multiple of `perRow`
 */
export function hexRows(before: Uint8Array, after: Uint8Array, offset: number, perRow: number): HexRow[] {
  const rows: HexRow[] = []
  for (let at = 0; at < Math.max(before.length, after.length); at += perRow)
    rows.push({
      offset: (offset + at).toString(16).padStart(8, '0'),
      before: cells(before, after, at, perRow),
      after: cells(after, before, at, perRow),
    })
  return rows
}

const cells = (own: Uint8Array, other: Uint8Array, at: number, perRow: number): HexCell[] =>
  Array.from(own.subarray(at, at + perRow), (byte, n) => ({
    hex: byte.toString(16).padStart(2, '0'),
    char: byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : '·',
    differs: other[at + n] !== byte,
  }))
