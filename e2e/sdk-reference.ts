/**
 * docs/sdk.md: what `rewind-desktop/sdk` offers, taken from its own docstrings. `--write` writes the page; without it,
 * the page that is there is compared, and a stale one fails (`npm run check`).
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { sdkEntry, sdkProgram } from './sdk-types.ts'

const page = join(resolve(import.meta.dirname, '..'), 'docs/sdk.md')

const INTRODUCTION = `# The SDK

\`rewind-desktop/sdk\` for Node 24 and newer, ESM, with types. Written by \`npm run reference\` from the docstrings in
\`src-main/sdk\`; edit those. [The readme](../README.md#from-typescript) has a first program, and
[examples/quick-start.ts](../examples/quick-start.ts) a longer one.

- Units: names that end in Ms take milliseconds.
- Calls that can fail throw the error classes below. All extend \`RewindError\`, and each has a \`code\`, a \`message\`, and
  mostly a \`nextStep\`; \`instanceof\` works wherever the error came from.
- A string as a command is run by \`sh -c\`, a list without a shell.
- Paths are relative to the workspace, or absolute beneath it.
- Calls may be made side by side, from any number of programs on one session; none needs a lock.
- Not there yet: writing changes to the workspace (\`commit\`; until then \`diff()\` and \`rewind diff --patch\`), and
  frameworks beside plain functions.
`

const SECTIONS = [
  { title: 'Functions', of: ts.SymbolFlags.Function | ts.SymbolFlags.Variable },
  { title: 'Classes', of: ts.SymbolFlags.Class },
  { title: 'Types', of: ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias },
]

/** @returns the page. @throws naming every public name that says nothing of itself */
export function sdkReference(): string {
  const program = sdkProgram()
  const writer = new Reference(program.getTypeChecker())
  const entry = program.getSourceFile(sdkEntry)
  const index = entry && writer.checker.getSymbolAtLocation(entry)
  if (!index) throw new Error(`${sdkEntry} exports nothing`)
  const names = writer.checker
    .getExportsOfModule(index)
    .map((symbol) => writer.original(symbol))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
  const isError = (symbol: ts.Symbol) => symbol.name.endsWith('Error') && (symbol.flags & ts.SymbolFlags.Class) !== 0
  const parts = SECTIONS.flatMap(({ title, of }) => {
    const those = names.filter((symbol) => (symbol.flags & of) !== 0 && !isError(symbol) && !sectionBefore(symbol, of))
    return [`## ${title}\n`, ...those.map((symbol) => writer.entry(symbol))]
  })
  const page = [INTRODUCTION, ...parts, '## Errors\n', ...names.filter(isError).map((error) => writer.entry(error))]
  if (writer.silent.length > 0) throw new Error(`no docstring: ${writer.silent.join(', ')}`)
  return `${page
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trimEnd()}\n`
}

/** A constant and the type of the same name are told once, as the constant. */
const sectionBefore = (symbol: ts.Symbol, of: ts.SymbolFlags): boolean =>
  SECTIONS.slice(
    0,
    SECTIONS.findIndex((section) => section.of === of),
  ).some((section) => (symbol.flags & section.of) !== 0)

class Reference {
  readonly checker: ts.TypeChecker
  /** Public names without a docstring. */
  readonly silent: string[] = []

  constructor(checker: ts.TypeChecker) {
    this.checker = checker
  }

  original(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol
  }

  entry(symbol: ts.Symbol): string {
    const declaration = symbol.declarations?.[0]
    if (!declaration) throw new Error(`${symbol.name} is declared nowhere`)
    const heading = `### ${symbol.name}\n`
    if (ts.isFunctionDeclaration(declaration) || ts.isVariableDeclaration(declaration))
      return [heading, this.#callable(symbol)].join('\n')
    const about = this.#about(symbol, symbol.name)
    if (ts.isTypeAliasDeclaration(declaration))
      return [heading, code(`type ${symbol.name} = ${declaration.type.getText()}`), about].join('\n')
    return [heading, about, ...this.#members(symbol, declaration)].join('\n')
  }

  #callable(symbol: ts.Symbol): string {
    const type = this.checker.getTypeOfSymbol(symbol)
    const signatures = type.getCallSignatures()
    if (signatures.length === 0)
      return [code(`const ${symbol.name}: ${this.checker.typeToString(type)}`), this.#about(symbol, symbol.name)].join(
        '\n',
      )
    const lines = signatures.map((one) => `${symbol.name}${this.#signature(one)}`)
    return [code(lines.join('\n')), this.#about(symbol, symbol.name)].join('\n')
  }

  #members(owner: ts.Symbol, declaration: ts.Declaration): string[] {
    const type = this.checker.getDeclaredTypeOfSymbol(owner)
    const calls = type.getCallSignatures().map((one) => code(`(${owner.name})${this.#signature(one)}`))
    const own = type.getProperties().filter((member) => isPublic(member) && isOurs(member))
    const isError = ts.isClassDeclaration(declaration) && owner.name.endsWith('Error') && owner.name !== 'RewindError'
    // What all errors have is told once.
    const members = isError ? own.filter(({ name }) => owner.members?.has(name as ts.__String)) : own
    const made = ts.isClassDeclaration(declaration) && !owner.name.endsWith('Error') ? this.#made(owner) : []
    const methods = members.filter((member) => member.flags & ts.SymbolFlags.Method)
    const fields = members.filter((member) => !(member.flags & ts.SymbolFlags.Method))
    return [
      ...calls,
      ...made,
      ...(fields.length > 0 ? [fields.map((field) => this.#field(owner, field)).join(''), ''] : []),
      ...methods.map((method) => this.#method(owner, method)),
    ]
  }

  #made(owner: ts.Symbol): string[] {
    const declared = owner.members?.get('__constructor' as ts.__String)
    if (!declared || !isPublic(declared)) return []
    const [signature] = this.checker.getTypeOfSymbol(owner).getConstructSignatures()
    if (!signature) return []
    return [code(`new ${owner.name}${this.#signature(signature).replace(/: \w+$/, '')}`), this.#tags(declared)]
  }

  #field(owner: ts.Symbol, field: ts.Symbol): string {
    const optional = field.flags & ts.SymbolFlags.Optional ? '?' : ''
    const words = this.#words(field)
    const shown = `: ${this.#typeOf(field)}`
    if (words === '' && needsWords(field, owner)) this.silent.push(`${owner.name}.${field.name}`)
    return `- \`${field.name}${optional}${shown}\`${words === '' ? '' : `: ${words}`}\n`
  }

  #method(owner: ts.Symbol, method: ts.Symbol): string {
    const name = method.name.startsWith('__@') ? '[Symbol.asyncDispose]' : method.name
    const lines = this.checker
      .getTypeOfSymbol(method)
      .getCallSignatures()
      .map((one) => `${name}${this.#signature(one)}`)
    return [`#### ${name}\n`, code(lines.join('\n')), this.#about(method, `${owner.name}.${name}`)].join('\n')
  }

  #typeOf(field: ts.Symbol): string {
    const declaration = field.valueDeclaration
    const written = declaration && (declaration as ts.PropertySignature).type?.getText()
    const type = written ?? this.checker.typeToString(this.checker.getTypeOfSymbol(field))
    return type
      .replaceAll(/\/\*\*.*?\*\//gs, '')
      .replaceAll(/(?<=[^{|\s])\s*\n\s*(?=\w)/g, '; ')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/^\| | \| undefined$/g, '')
  }

  /** As it was written, without what only the compiler needs. */
  #signature(signature: ts.Signature): string {
    const declaration = signature.getDeclaration()
    const written = declaration.parameters.map((parameter) => {
      const optional = parameter.questionToken || parameter.initializer ? '?' : ''
      const type = parameter.type?.getText() ?? (parameter.initializer ? this.#ofInitializer(parameter) : 'unknown')
      return `${parameter.dotDotDotToken ? '...' : ''}${parameter.name.getText()}${optional}: ${type.replaceAll(/ \| undefined\b/g, '')}`
    })
    const generics = declaration.typeParameters?.map((one) => one.getText()).join(', ')
    const result = ts.isConstructorDeclaration(declaration)
      ? ''
      : `: ${declaration.type?.getText() ?? this.checker.typeToString(signature.getReturnType())}`
    const line = `${generics ? `<${generics}>` : ''}(${written.join(', ')})${result}`
    return line.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(', )', ')')
  }

  #ofInitializer(parameter: ts.ParameterDeclaration): string {
    return this.checker.typeToString(this.checker.getBaseTypeOfLiteralType(this.checker.getTypeAtLocation(parameter)))
  }

  #about(symbol: ts.Symbol, name: string): string {
    const words = this.#words(symbol)
    const tags = this.#tags(symbol)
    if (words === '' && tags.trim() === '') this.silent.push(name)
    return [words === '' ? [] : `${words}\n`, tags].flat().join('\n')
  }

  #words(symbol: ts.Symbol): string {
    return plain(ts.displayPartsToString(symbol.getDocumentationComment(this.checker)))
  }

  #tags(symbol: ts.Symbol): string {
    const lines = symbol.getJsDocTags(this.checker).flatMap(({ name, text }) => {
      const said = plain(ts.displayPartsToString(text))
      if (name === 'param') return [`- \`${said.split(' ')[0]}\`: ${said.slice(said.indexOf(' ') + 1)}`]
      if (name === 'returns') return [`- Returns ${said}`]
      if (name === 'throws') return [`- Throws ${said}`]
      return []
    })
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`
  }
}

const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\`\n`

/** One paragraph is one line; links become the names they lead to. */
const plain = (text: string): string =>
  text
    .replaceAll(/\{@link\s+([^}]+?)\s*\}/g, '`$1`')
    .split('\n\n')
    .map((paragraph) => paragraph.replaceAll(/\s*\n\s*/g, ' ').trim())
    .join('\n\n')

function isPublic(symbol: ts.Symbol): boolean {
  const { valueDeclaration } = symbol
  if (internal(symbol)) return false
  if (!valueDeclaration) return true
  if (ts.isPropertyDeclaration(valueDeclaration) && ts.isPrivateIdentifier(valueDeclaration.name)) return false
  if (ts.isMethodDeclaration(valueDeclaration) && ts.isPrivateIdentifier(valueDeclaration.name)) return false
  return true
}

const internal = (symbol: ts.Symbol): boolean =>
  (symbol.declarations ?? []).some((one) => ts.getJSDocTags(one).some(({ tagName }) => tagName.text === 'internal'))

/** Not what every object or error has by the language. */
const isOurs = (member: ts.Symbol): boolean =>
  member.declarations?.some((one) => !one.getSourceFile().fileName.includes('node_modules')) ?? false

/** What a name and a type say by themselves needs no words; an option does: it has a default. */
const needsWords = (field: ts.Symbol, owner: ts.Symbol): boolean =>
  /(Options|Filter)$/.test(owner.name) && (field.flags & ts.SymbolFlags.Optional) !== 0

if (import.meta.main) {
  const fresh = sdkReference()
  if (process.argv.includes('--write')) writeFileSync(page, fresh)
  else if (readFileSync(page, 'utf8') !== fresh) {
    console.error('docs/sdk.md is not what the docstrings say: run `npm run reference`')
    process.exitCode = 1
  }
}
