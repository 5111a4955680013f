/**
 * The types of `rewind-desktop/sdk`, as they are packed: the declarations that are reached from its index, and no
 * others. One that needs a package would be broken wherever that is not installed, so it is refused here.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '..')
const sources = join(root, 'src-main')
export const sdkEntry: string = join(sources, 'sdk/index.ts')

/** The program that the SDK is, with the project's own settings. */
export function sdkProgram(options: ts.CompilerOptions = {}): ts.Program {
  const file = join(root, 'tsconfig.json')
  const { config } = ts.readConfigFile(file, ts.sys.readFile)
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: [sdkEntry] }, ts.sys, root)
  return ts.createProgram([sdkEntry], { ...parsed.options, ...options })
}

/**
 * @returns declarations by their path below src-main
 * @throws where one needs a package, or cannot be written
 */
export function sdkDeclarations(): Map<string, string> {
  const program = sdkProgram({
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    rootDir: sources,
    outDir: '/declarations',
  })
  const written = new Map<string, string>()
  const waiting = [sdkEntry]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const path = relative(sources, file).replace(/\.ts$/, '.d.ts')
    if (written.has(path)) continue
    const text = declarationOf(program, file)
    written.set(path, text.replaceAll(/(['"]\.[^'"]*)\.ts(['"])/g, '$1.js$2'))
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (!fileName.startsWith('.')) throw new Error(`${path} needs ${fileName}: the types of the SDK stand alone`)
      waiting.push(resolve(dirname(file), fileName))
    }
  }
  return written
}

function declarationOf(program: ts.Program, file: string): string {
  let text: string | undefined
  const write: ts.WriteFileCallback = (_name, data) => {
    text = data
  }
  const { diagnostics } = program.emit(program.getSourceFile(file), write, undefined, true)
  if (text === undefined || diagnostics.length > 0)
    throw new Error(
      `No types of ${file}: ${diagnostics.map(({ messageText }) => JSON.stringify(messageText)).join('; ')}`,
    )
  return text
}

if (import.meta.main) {
  const folder = join(root, 'out/types')
  rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of sdkDeclarations()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
