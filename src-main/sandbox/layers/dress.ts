/** Giving a folder of a layer the attributes that another one has: they show in the merged tree. */
import { chmodSync, chownSync, lstatSync, type Stats, utimesSync } from 'node:fs'

export function dress(path: Buffer, { mode, uid, gid, atimeMs, mtimeMs }: Stats): void {
  const own = lstatSync(path)
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid)
  chmodSync(path, mode & 0o7777)
  utimesSync(path, atimeMs / 1000, mtimeMs / 1000)
}
