/**
 * Where a command line that is to be run begins: `rewind exec ls -la`. What follows its first word is its own, options
 * included; what comes before that word, on either side of the command's name, is ours.
 */
import type { Command, Option } from 'commander'

/** @returns the arguments with `--` before the first word of what is to be run, where nobody wrote it */
export function separateCommand(argv: readonly string[], program: Command): string[] {
  let command: Command | undefined
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ''
    if (word === '--') break
    if (word.startsWith('-') && word !== '-') {
      if (takesNextWord(word, [...program.options, ...(command?.options ?? [])])) at++
    } else if (command) return [...argv.slice(0, at), '--', ...argv.slice(at)]
    else {
      command = program.commands.find((one) => one.name() === word || one.aliases().includes(word))
      if (!command || !runsCommand(command)) break
    }
  }
  return [...argv]
}

const takesNextWord = (word: string, options: readonly Option[]): boolean =>
  options.some((option) => option.required && (option.long === word || option.short === word))

/** Whether the operands are the words of a command line. */
const runsCommand = ({ registeredArguments: [first] }: Command): boolean =>
  first?.name() === 'command' && first.variadic
