/** What a command is to the program, and the ways in which it may end. */
import type { Command } from 'commander'
import type { RewindError } from '../contract/errors.ts'
import type { Cli } from './cli.ts'

/** Adds commands to the program; each action is wrapped by `action`, which hands it what it needs. */
export type Define = (program: Command, action: Action) => void

/** Makes a commander action of a function of (cli, operands, options); an operand that was left out is undefined. */
export type Action = <Options extends object>(
  work: (cli: Cli, operands: readonly (string | undefined)[], options: Options) => Promise<void>,
) => (...args: unknown[]) => Promise<void>

/** An error together with what the command found out before it: both are shown. */
export class FailureWithData extends Error {
  readonly error: RewindError
  readonly data: unknown
  readonly exitCode: number

  constructor(error: RewindError, data: unknown, exitCode: number = error.exitCode) {
    super(error.message)
    this.error = error
    this.data = data
    this.exitCode = exitCode
  }
}

/** The operands of a list: none of them is left out. */
export const given = (operands: readonly (string | undefined)[]): string[] =>
  operands.filter((operand) => operand !== undefined)
