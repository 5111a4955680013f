/** The commands that a sentence names, each in backticks: what can be copied. A single word is a name, not a command. */
export const commandsIn = (text: string | null): string[] => [
  ...new Set(
    [...(text ?? '').matchAll(/`([^`]+)`/g)].map(([, command = '']) => command).filter((one) => /\s/.test(one)),
  ),
]
