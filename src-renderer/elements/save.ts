/** A document of the host's, kept as a file: the browser or the app asks where, or puts it with the downloads. */

/** @returns how many bytes it has */
export async function saveAs(name: string, type: string, pieces: AsyncIterable<string>): Promise<number> {
  const parts: string[] = []
  for await (const piece of pieces) parts.push(piece)
  const blob = new Blob(parts, { type })
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has its own hold on it once it began.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
  return blob.size
}

/** A session's name as a part of a file's: nothing that a file system minds. */
export const fileName = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 80) || 'session'
