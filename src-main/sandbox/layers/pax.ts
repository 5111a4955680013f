/** As much of the pax archive format as is needed to see the attributes of folders, and to set one. */
import type { ByteString } from './names.ts'

const BLOCK = 512

export interface PaxEntry {
  path: ByteString
  /** The records of its pax header: keyword to value. */
  records: ReadonlyMap<string, ByteString>
}

/** Entries of an archive, in order. */
export function* paxEntries(archive: Buffer): Generator<PaxEntry> {
  let records = new Map<string, ByteString>()
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0; ) {
    const header = archive.subarray(at, at + BLOCK)
    const size = Number.parseInt(field(header, 124, 12), 8) || 0
    const body = archive.subarray(at + BLOCK, at + BLOCK + size)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    const type = field(header, 156, 1)
    if (type === 'x') records = parseRecords(body)
    if (type === 'x' || type === 'g') continue
    const prefix = field(header, 345, 155)
    const name = field(header, 0, 100)
    yield { path: records.get('path') ?? (prefix ? `${prefix}/${name}` : name), records }
    records = new Map()
  }
}

/** What a header says of an entry. */
interface Owned {
  mode: number
  uid: number
  gid: number
}

const NOBODY: Owned = { mode: 0o644, uid: 0, gid: 0 }

/** An archive that holds folders, each with these records. */
export function paxFolders(
  entries: readonly { path: ByteString; stat: Owned }[],
  records: Record<string, string>,
): Buffer {
  const body = Buffer.from(
    Object.entries(records)
      .map(([key, value]) => formatRecord(key, value))
      .join(''),
  )
  const folders = entries.flatMap(({ path, stat }) => {
    const name = Buffer.from(`./${path}/\0`, 'latin1')
    // A long name in GNU's own way: tar takes the pax format's for text in some encoding.
    const long = name.length > NAME_BYTES ? [header('././@LongLink', 'L', name.length), padded(name)] : []
    return [header('pax', 'x', body.length), padded(body), ...long, header(name.toString('latin1'), '5', 0, stat)]
  })
  return Buffer.concat([...folders, Buffer.alloc(2 * BLOCK)])
}

const NAME_BYTES = 100

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)])

/** Records are `LENGTH KEY=VALUE\n`, where LENGTH counts itself. */
function parseRecords(body: Buffer): Map<string, ByteString> {
  const records = new Map<string, ByteString>()
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(0x20, at)
    const length = Number.parseInt(body.toString('latin1', at, space), 10)
    if (space < 0 || !(length > 0)) break
    const record = body.toString('latin1', space + 1, at + length - 1)
    const equals = record.indexOf('=')
    records.set(record.slice(0, equals), record.slice(equals + 1))
    at += length
  }
  return records
}

function formatRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return `${length}${rest}`
}

function field(header: Buffer, start: number, length: number): string {
  const bytes = header.subarray(start, start + length)
  const end = bytes.indexOf(0)
  return bytes.toString('latin1', 0, end < 0 ? length : end)
}

function header(name: ByteString, type: 'x' | 'L' | '5', size: number, owned: Owned = NOBODY): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  block.write(name.slice(0, NAME_BYTES), 0, 'latin1')
  block.write(octal(owned.mode & 0o7777, 7), 100)
  block.write(octal(owned.uid, 7), 108)
  block.write(octal(owned.gid, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(0, 11), 136)
  block.fill(' ', 148, 156)
  block.write(type, 156)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}
