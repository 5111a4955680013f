/**
 * What a sandbox committed, taken into the host's repository under refs/rewind/SESSION.
 *
 * The bundle is an agent's. Its header is read here, its objects go through git's own checks before any is kept, and
 * its names become part of names of ours; nothing is fetched in the sense of git, so no remote, no transport and no
 * program of the repository's config has a part in it. Format: https://git-scm.com/docs/gitformat-bundle
 */
import { constants, createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { GitError, InvalidPathError } from '../contract/index.ts'
import { git } from './git.ts'
import { GitRepository } from './git-repository.ts'

export interface BundleRequest {
  workspace: string
  /** A file of the host, as `git bundle create` writes it. */
  bundle: string
  /** Of the session; what a ref cannot hold is replaced. */
  session: string
}

export interface FetchedRef {
  /** As the sandbox has it: refs/heads/main. */
  from: string
  /** refs/rewind/SESSION/heads/main. */
  ref: string
  object: string
}

export interface BundleResult {
  refs: FetchedRef[]
  /** Refs of the sandbox whose names cannot be had. */
  refused: string[]
}

/**
 * Refs that are there from an earlier time are moved; others stay.
 * @throws InvalidPathError where the file is no bundle or the workspace in no repository; GitError with `reason`
 * 'refused' where git does not take its objects, 'incomplete' where it builds on commits that are not here
 */
export async function fetchBundle({ workspace, bundle, session }: BundleRequest): Promise<BundleResult> {
  const header = await readHeader(bundle)
  const repository = await GitRepository.around(workspace)
  const digits = repository.noObject.length
  if (header.refs.some(({ object }) => object.length !== digits))
    throw new GitError('The sandbox’s repository has ids of another kind than this one.', {
      nextStep: 'Commit the files; take the commits over by a patch.',
      data: { reason: 'refused' },
    })
  await checkPresent(repository, header.needs)
  const pack = createReadStream(bundle, { start: header.end })
  await git(['index-pack', '--stdin', '--fix-thin', '--strict'], { ...repository.call, stdin: pack }).catch(refuse)
  const { refs, refused } = named(header.refs, session)
  await checkWhole(repository, refs)
  await git(['update-ref', '-m', 'rewind: from the sandbox', '--stdin', '-z'], {
    ...repository.call,
    stdin: refs.map(({ ref, object }) => `update ${ref}\0${object}\0\0`),
  })
  return { refs, refused }
}

interface Header {
  /** Commits that it builds on. */
  needs: string[]
  refs: { name: string; object: string }[]
  /** Where the pack begins. */
  end: number
}

const MOST_HEADER_BYTES = 64 << 20
const FIRST_READ_BYTES = 64 << 10

async function readHeader(bundle: string): Promise<Header> {
  const refuse = (why: string) =>
    new InvalidPathError(`${bundle} is no bundle of git’s: ${why}.`, { data: { reason: 'no-bundle', path: bundle } })
  const file = await open(bundle, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    throw refuse(String((error as NodeJS.ErrnoException).code))
  })
  try {
    if (!(await file.stat()).isFile()) throw refuse('it is no file')
    for (let bytes = FIRST_READ_BYTES; ; bytes *= 4) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0)
      const end = buffer.subarray(0, bytesRead).indexOf('\n\n')
      if (end >= 0) return parseHeader(buffer.toString('latin1', 0, end), end + 2, refuse)
      if (bytesRead < bytes || bytes >= MOST_HEADER_BYTES) throw refuse('its header has no end')
    }
  } finally {
    await file.close()
  }
}

function parseHeader(text: string, end: number, refuse: (why: string) => Error): Header {
  const [signature, ...lines] = text.split('\n')
  if (signature !== '# v2 git bundle' && signature !== '# v3 git bundle') throw refuse('it does not begin as one')
  const header: Header = { needs: [], refs: [], end }
  for (const line of lines) {
    // Version 3 says which kind of ids it has. A bundle that leaves objects out on purpose is of no use here.
    if (line.startsWith('@object-format=')) continue
    const [, minus, object, name] = line.match(/^(-?)([0-9a-f]{40}(?:[0-9a-f]{24})?)(?: (.*))?$/s) ?? []
    if (object === undefined) throw refuse(`its header says ${JSON.stringify(line.slice(0, 80))}`)
    if (minus === '-') header.needs.push(object)
    else if (name) header.refs.push({ object, name: Buffer.from(name, 'latin1').toString('utf8') })
  }
  return header
}

async function checkPresent(repository: GitRepository, needs: readonly string[]): Promise<void> {
  const stdin = needs.map((object) => `${object}\n`)
  const { stdout } = await git(['cat-file', '--batch-check=%(objecttype)'], { ...repository.call, stdin })
  const missing = needs.filter((_, at) => stdout.toString().split('\n')[at] !== 'commit')
  if (missing.length > 0) throw incomplete(missing)
}

const incomplete = (missing: readonly string[]): GitError =>
  new GitError('The sandbox’s commits build on others that this repository does not have.', {
    nextStep: 'Commit the files; take the commits over by a patch.',
    data: { reason: 'incomplete', missing: missing.slice(0, 20) },
  })

function refuse(error: unknown): never {
  if (!(error instanceof GitError) || error.data.reason !== 'failed') throw error
  throw new GitError('git does not take the sandbox’s commits: they are damaged, or not as git makes them.', {
    nextStep: 'See what `git fsck` says in the sandbox; the files can be committed without them.',
    data: { ...error.data, reason: 'refused' },
    cause: error,
  })
}

/** Everything that the refs lead to is here: what is reachable from no ref of ours is walked. */
async function checkWhole(repository: GitRepository, refs: readonly FetchedRef[]): Promise<void> {
  const stdin = refs.map(({ object }) => `${object}\n`)
  const walk = git(['rev-list', '--objects', '--stdin', '--not', '--all', '--quiet'], { ...repository.call, stdin })
  await walk.catch((error: unknown) => {
    throw error instanceof GitError && error.data.reason === 'failed' ? incomplete([]) : error
  })
}

function named(heads: Header['refs'], session: string): BundleResult {
  const folder = `refs/rewind/${refPart(session)}`
  const refs: FetchedRef[] = []
  const refused: string[] = []
  for (const { name, object } of heads) {
    const ref = `${folder}/${name.replace(/^refs\//, '')}`
    if (isRefName(ref)) refs.push({ from: name, ref, object })
    else refused.push(name)
  }
  return { refs, refused }
}

/** A name as one part of a ref. */
const refPart = (name: string): string => name.replace(/[^\p{L}\p{N}_-]+/gu, '-').replace(/^-+/, '') || 'session'

/** As git's check_refname_format has it, and no replacement character: a name that was no text is not ours to make up. */
function isRefName(name: string): boolean {
  const parts = name.split('/')
  return (
    !/[\p{Cc} ~^:?*[\\\ufffd]|\.\.|@\{/u.test(name) &&
    !name.endsWith('.') &&
    parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  )
}
