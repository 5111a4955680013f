/** File systems that cannot be relied on as a layer, nor tell what is changed in them: by the magic of statfs(2). */
const UNSUITED = new Map([
  [0x794c7630, 'an overlay'],
  [0x65735546, 'a FUSE file system, as the shares of Docker Desktop are'],
  [0x6969, 'NFS'],
  [0xff534d42, 'a Windows share'],
  [0xfe534d42, 'a Windows share'],
  [0x517b, 'a Windows share'],
  [0x01021997, 'a 9p share'],
])

/** @returns what it is, for a person; null for one that will do */
export const unsuitedFileSystem = (magic: number): string | null => UNSUITED.get(magic) ?? null
