/**
 * What the product needs to know of a provider's way of writing a conversation. Everything else here works through this
 * interface, so a further format is one further module in `formats/`.
 */
import type { Message, Repair } from '../contract/index.ts'

export interface Repaired {
  messages: Message[]
  /** In the order in which they were made, which is the order of the history. */
  repairs: Repair[]
}

export interface Format {
  /** As the format option names it. */
  readonly name: string
  /**
   * Judges what a client sent. The messages come back as they are, the same objects.
   * @throws InvalidMessagesError naming the index and what is allowed
   */
  parse(input: unknown): Message[]
  /** Makes a history that was cut anywhere one that the provider takes. A sound one comes back equal, without repairs. */
  repair(messages: readonly Message[]): Repaired
  /** The provider's rules that the history breaks, in words; empty where it would be taken. */
  validate(messages: readonly Message[]): string[]
  isCue(message: Message): boolean
  /** The history with `text` as its only cue, where the provider takes it: at the end, never between a call and its results. */
  withCue(messages: readonly Message[], text: string): Message[]
  withoutCues(messages: readonly Message[]): Message[]
}
