/** Patches: as text, and as what git makes of them. */
import { execFileSync, spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyPatch } from 'diff'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Change, FilePair } from '../contract/index.ts'
import { contentsNeeded, isWhole, lineCounts, statLine, unifiedPatch } from './index.ts'
import { replaced } from './patch.ts'

const change = (status: Change['status'], rest: Partial<Change> = {}): Change => ({
  path: 'src/a.ts',
  rawPath: null,
  status,
  kind: 'file',
  before: null,
  after: null,
  ...rest,
})
const text = (before: string | null, after: string | null): FilePair => ({ kind: 'text', before, after })
const modes = (before: number | null, after: number | null) => ({ modes: { before, after } })

describe('unifiedPatch', () => {
  test('modified: hunks with context', () => {
    const before = 'a\nb\nc\nd\ne\nf\n'
    expect(unifiedPatch(change('modified', modes(0o100644, 0o100644)), text(before, before.replace('e', 'E')))).toBe(
      `diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -2,5 +2,5 @@
 b
 c
 d
-e
+E
 f
`,
    )
  })

  test('added and deleted: with their mode, against /dev/null', () => {
    expect(unifiedPatch(change('added', modes(null, 0o100755)), text(null, 'x\n'))).toBe(
      'diff --git a/src/a.ts b/src/a.ts\nnew file mode 100755\n--- /dev/null\n+++ b/src/a.ts\n@@ -0,0 +1,1 @@\n+x\n',
    )
    expect(unifiedPatch(change('deleted', modes(0o100644, null)), text('x\n', null))).toBe(
      'diff --git a/src/a.ts b/src/a.ts\ndeleted file mode 100644\n--- a/src/a.ts\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n',
    )
    expect(unifiedPatch(change('added', modes(null, 0o100644)), text(null, ''))).toBe(
      'diff --git a/src/a.ts b/src/a.ts\nnew file mode 100644\n',
    )
  })

  test('no newline at the end, and CRLF, stay as they are', () => {
    const patch = unifiedPatch(change('modified'), text('a\r\nb\r\n', 'a\r\nB'))
    expect(patch).toContain(' a\r\n-b\r\n+B\n\\ No newline at end of file\n')
    expect(unifiedPatch(change('modified'), text('a\r\n', 'a\n'))).toContain('-a\r\n+a\n')
  })

  test('modes alone', () => {
    expect(unifiedPatch(change('mode', modes(0o100644, 0o100755)), text('x', 'x'))).toBe(
      'diff --git a/src/a.ts b/src/a.ts\nold mode 100644\nnew mode 100755\n',
    )
  })

  test('what is no text is named', () => {
    expect(unifiedPatch(change('modified'), { kind: 'binary', before: 1, after: 2 })).toContain(
      'Binary files a/src/a.ts and b/src/a.ts differ\n',
    )
    expect(unifiedPatch(change('added'), { kind: 'large', before: null, after: 9e9 })).toContain(
      'Large files /dev/null and b/src/a.ts differ (not there, 9000000000 bytes)\n',
    )
    expect(unifiedPatch(change('added', { kind: 'folder' }), null)).toBe('# src/a.ts/: folder added\n')
    expect(unifiedPatch(change('deleted', { kind: 'other' }), null)).toBe(
      '# src/a.ts: FIFO, socket or device deleted\n',
    )
  })

  test('symlinks, and a file that became one', () => {
    const link: FilePair = { kind: 'symlink', before: null, after: 'to' }
    const added = `diff --git a/src/a.ts b/src/a.ts
new file mode 120000
--- /dev/null
+++ b/src/a.ts
@@ -0,0 +1,1 @@
+to
\\ No newline at end of file
`
    const kind = { kind: 'symlink' } as const
    expect(unifiedPatch(change('added', { ...kind, ...modes(null, 0o120777) }), link)).toBe(added)
    expect(unifiedPatch(change('type', { ...kind, ...modes(0o100644, 0o120777) }), link)).toBe(
      `# src/a.ts: is now a symlink, was a file\ndiff --git a/src/a.ts b/src/a.ts\ndeleted file mode 100644\nBinary files a/src/a.ts and /dev/null differ\n${added}`,
    )
  })

  test('two long texts with nothing in common end soon, as replaced', () => {
    const before = Array.from({ length: 30_000 }, (_, at) => `old ${at}\n`).join('')
    const after = Array.from({ length: 30_000 }, (_, at) => `new ${at}\n`).join('')
    const started = performance.now()
    const patch = unifiedPatch(change('modified'), text(before, after))
    expect(performance.now() - started).toBeLessThan(20_000)
    expect(applyPatch(before, patch.slice(patch.indexOf('---')))).toBe(after)
  })

  test('replacing everything is a patch like any other', () => {
    for (const [before, after] of [
      ['a\nb', 'c\n'],
      ['', 'x'],
      ['x\n', ''],
    ] as const)
      expect(applyPatch(before, replaced(before, after))).toBe(after)
  })

  test('whatever the texts are, the patch leads from one to the other', () => {
    const line = fc.constantFrom('a', 'b', '', '--- x', '+++ y', '@@ z', '\\ q', 'ü', 'c\r', ' d')
    const file = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.boolean())
      .map(([lines, end]) => lines.join('\n') + (end ? '\n' : ''))
    fc.assert(
      fc.property(file, file, (before, after) => {
        fc.pre(before !== after)
        const patch = unifiedPatch(change('modified'), text(before, after))
        expect(applyPatch(before, patch.slice(patch.indexOf('---')), { autoConvertLineEndings: false })).toBe(after)
      }),
    )
  })
})

describe.runIf(spawnSync('git', ['--version']).status === 0)('git apply', () => {
  let folder = ''
  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'patch-'))
    execFileSync('git', ['init', '-q', folder])
  })
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

  const apply = (patch: string) =>
    execFileSync('git', ['apply', '-'], { cwd: folder, input: patch, stdio: ['pipe', 'pipe', 'pipe'] })
  const at = (name: string | Buffer) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)])

  test.each([
    ['plain', null],
    ['sp ace', null],
    ['quo"te\\back', null],
    ['ünï', null],
    ['new\\nline', Buffer.from('new\nline')],
    ['bad\\xFF', Buffer.from('bad\xff', 'latin1')],
  ])('takes it for a file named %j', (path, raw) => {
    const named = { path, rawPath: raw?.toString('base64') ?? null }
    const name = raw ?? path
    apply(unifiedPatch(change('added', { ...named, ...modes(null, 0o100755) }), text(null, 'one\ntwo')))
    expect(fs.readFileSync(at(name), 'utf8')).toBe('one\ntwo')
    expect(fs.statSync(at(name)).mode & 0o100).toBe(0o100)
    apply(
      unifiedPatch(change('modified', { ...named, ...modes(0o100755, 0o100644) }), text('one\ntwo', 'ONE\r\ntwo\n')),
    )
    expect(fs.readFileSync(at(name), 'utf8')).toBe('ONE\r\ntwo\n')
    expect(fs.statSync(at(name)).mode & 0o100).toBe(0)
    apply(unifiedPatch(change('deleted', { ...named, ...modes(0o100644, null) }), text('ONE\r\ntwo\n', null)))
    expect(fs.existsSync(at(name))).toBe(false)
  })

  test('makes symlinks, and refuses what the patch does not hold', () => {
    apply(
      unifiedPatch(change('added', { path: 'link', kind: 'symlink', ...modes(null, 0o120777) }), {
        kind: 'symlink',
        before: null,
        after: 'to',
      }),
    )
    expect(fs.readlinkSync(at('link'))).toBe('to')
    fs.writeFileSync(at('src'), 'x')
    const named = change('modified', { path: 'src', ...modes(0o100644, 0o100644) })
    expect(() => apply(unifiedPatch(named, { kind: 'binary', before: 1, after: 1 }))).toThrow()
    expect(() => apply(unifiedPatch(named, { kind: 'large', before: 1, after: 1 }))).toThrow()
  })
})

describe.runIf(spawnSync('git', ['--version']).status === 0)('a whole patch', () => {
  let folder = ''
  const git = (args: string[], input?: string) =>
    execFileSync('git', args, { cwd: folder, input, stdio: ['pipe', 'pipe', 'pipe'] })
  beforeEach(() => {
    folder = fs.mkdtempSync(join(tmpdir(), 'patch-'))
    git(['init', '-q'])
  })
  afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

  type Entry = { mode: number; bytes: Buffer } | null
  const file = (bytes: string | Buffer, mode = 0o100644): Entry => ({ mode, bytes: Buffer.from(bytes) })
  const link = (to: string): Entry => ({ mode: 0o120777, bytes: Buffer.from(to) })
  const pathOf = (name: string) => join(folder, name)

  function put(name: string, entry: Entry): void {
    if (entry === null) return
    fs.mkdirSync(join(pathOf(name), '..'), { recursive: true })
    if (entry.mode === 0o120777) fs.symlinkSync(entry.bytes.toString(), pathOf(name))
    else {
      fs.writeFileSync(pathOf(name), entry.bytes)
      fs.chmodSync(pathOf(name), entry.mode & 0o777)
    }
  }

  function found(name: string): Entry {
    const stat = fs.lstatSync(pathOf(name), { throwIfNoEntry: false })
    if (!stat?.isFile() && !stat?.isSymbolicLink()) return null
    if (stat.isSymbolicLink()) return link(fs.readlinkSync(pathOf(name)))
    return file(fs.readFileSync(pathOf(name)), stat.mode & 0o100 ? 0o100755 : 0o100644)
  }

  /** The change, its pair and its contents, as the host would give them. */
  function patchOf(name: string, before: Entry, after: Entry): string {
    const isLink = (entry: Entry) => entry?.mode === 0o120777
    const raw = /[\n\t]/.test(name) ? Buffer.from(name).toString('base64') : null
    const type = before !== null && after !== null && isLink(before) !== isLink(after)
    const same = before !== null && after !== null && before.bytes.equals(after.bytes)
    const status = before === null ? 'added' : after === null ? 'deleted' : type ? 'type' : same ? 'mode' : 'modified'
    const what: Change = {
      ...change(status, modes(before?.mode ?? null, after?.mode ?? null)),
      path: name.replaceAll('\n', '\\n').replaceAll('\t', '\\t'),
      rawPath: raw,
      kind: isLink(after ?? before) ? 'symlink' : 'file',
    }
    const binary = [before, after].some((entry) => entry?.bytes.includes(0))
    const text = (entry: Entry) => entry?.bytes.toString() ?? null
    const pair: FilePair =
      isLink(before) || isLink(after)
        ? {
            kind: 'symlink',
            before: isLink(before) ? text(before) : null,
            after: isLink(after) ? text(after) : null,
          }
        : binary
          ? { kind: 'binary', before: before?.bytes.length ?? null, after: after?.bytes.length ?? null }
          : { kind: 'text', before: text(before), after: text(after) }
    const needed = contentsNeeded(what, pair)
    const contents = needed && {
      before: needed.before ? (before?.bytes ?? null) : null,
      after: needed.after ? (after?.bytes ?? null) : null,
    }
    expect(isWhole(what, pair, contents)).toBe(true)
    return unifiedPatch(what, pair, contents)
  }

  const noise = (length: number, seed: number) =>
    Buffer.from(Array.from({ length }, (_, at) => (at === 0 ? 0 : (at * 7919 * seed + (at >> 3) * seed) & 0xff)))

  test('text, bytes, modes, links and odd names together: git makes the one of the other', () => {
    const entries: [name: string, before: Entry, after: Entry][] = [
      ['added.bin', null, file(noise(10_000, 3))],
      ['changed.bin', file(noise(53, 5), 0o100755), file(noise(104, 7))],
      ['changed-text-to.bin', file('text\n'), file(noise(1, 1))],
      ['deleted.bin', file(noise(777, 9)), null],
      ['mode.bin', file(noise(20, 2)), file(noise(20, 2), 0o100755)],
      ['quo"te\\ü\n.bin', file(noise(30, 2)), file(noise(31, 2))],
      ['sp ace.bin', null, file(noise(26, 2))],
      ['text', file('a\nb\n'), file('a\nB')],
      ['link', link('a'), link('b')],
      ['link-to-file', link('a'), file('no link\n')],
      ['link-to-bytes', link('a'), file(noise(40, 4))],
      ['bytes-to-link', file(noise(41, 4), 0o100755), link('somewhere')],
      ['empty', null, file('')],
      ['space /before slash', null, file('')],
    ]
    for (const [name, before] of entries) put(name, before)
    git(['apply', '-'], entries.map((entry) => patchOf(...entry)).join(''))
    for (const [name, , after] of entries) expect([name, found(name)]).toEqual([name, after])
  })

  test('a file that is not the one before is refused', () => {
    put('x', file(noise(30, 2)))
    expect(() => git(['apply', '-'], patchOf('x', file(noise(30, 3)), file(noise(30, 4))))).toThrow(/does not match/)
  })

  test('whatever the bytes are, they arrive', () => {
    const some = fc.uint8Array({ maxLength: 300 }).map((bytes) => file(Buffer.from([0, ...bytes])))
    fc.assert(
      fc.property(fc.option(some), some, (before, after) => {
        fc.pre(!before?.bytes.equals(after?.bytes ?? Buffer.alloc(0)))
        fs.rmSync(pathOf('x'), { force: true })
        put('x', before)
        git(['apply', '-'], patchOf('x', before, after))
        expect(found('x')).toEqual(after)
      }),
      { numRuns: 25 },
    )
  })
})

test('what a patch does not hold is known', () => {
  const large: FilePair = { kind: 'large', before: 1, after: null }
  expect(isWhole(change('deleted'), large, null)).toBe(false)
  expect(contentsNeeded(change('deleted'), large)).toEqual({ before: true, after: false })
  expect(isWhole(change('added', { kind: 'other' }), null, null)).toBe(false)
  expect(isWhole(change('added', { kind: 'folder' }), null, null)).toBe(true)
  expect(isWhole(change('modified'), text('a', 'b'), null)).toBe(true)
})

describe('statLine and lineCounts', () => {
  test('lines where there are some, sizes or words where not', () => {
    expect(lineCounts(text('a\nb\n', 'a\nc\nd\n'))).toEqual({ insertions: 2, deletions: 1 })
    expect(lineCounts({ kind: 'binary', before: 1, after: 1 })).toBeNull()
    expect(statLine(change('modified'), text('a\nb\n', 'a\nc\nd\n'))).toBe('src/a.ts | +2 -1')
    expect(statLine(change('modified', { before: 1, after: 2 }), { kind: 'binary', before: 1, after: 2 })).toBe(
      'src/a.ts | 1 bytes -> 2 bytes',
    )
    expect(statLine(change('mode', modes(0o100644, 0o100755)), text('x', 'x'))).toBe(
      'src/a.ts | file, mode 0644 -> 0755',
    )
    expect(statLine(change('added', { kind: 'folder' }), null)).toBe('src/a.ts/ | folder added')
  })
})
