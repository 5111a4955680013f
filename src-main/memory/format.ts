/**
 * What the product needs to know of a provider's way of writing a conversation. Everything else here works through this
 * interface, so a further format is one further module in `formats/`.
 */
import type { Message, Repair, StoredFormat } from '../contract/index.ts'
import type { Spoken } from './spoken.ts'

export interface Repaired {
  messages: Message[]
  /** In the order in which they were made, which is the order of the history. */
  repairs: Repair[]
}

/** Messages of a conversion, and what it could not express, in words. */
export interface Converted<T> {
  messages: T[]
  notes: string[]
}

export interface Format {
  /** As the format option names it. */
  readonly name: StoredFormat
  /** As a person reads it. */
  readonly title: string
  /** What its schema knows: roles, or roles and kinds of items. */
  readonly allowed: readonly string[]
  /** Why a message is none of this format's, to be read after its place ("has no role"); null where it is one. */
  refuse(message: Message): string | null
  /** Whether all that a message holds is this format's own: what `auto` goes by. */
  fits(message: Message): boolean
  /** Makes a history that was cut anywhere one that the provider takes. A sound one comes back equal, without repairs. */
  repair(messages: readonly Message[]): Repaired
  /** The provider's rules that the history breaks, in words; empty where it would be taken. */
  validate(messages: readonly Message[]): string[]
  /** Whether the message is a resume cue, or holds one. */
  isCue(message: Message): boolean
  /** Whose words a cue is: of whom it is written in the middle of a history. */
  readonly cueRole: Spoken['role']
  /** The history with `text` as its only cue, where the provider takes it: at the end, never between a call and its results. */
  withCue(messages: readonly Message[], text: string): Message[]
  withoutCues(messages: readonly Message[]): Message[]
  /** What is said in the messages, apart from how it is written. */
  read(messages: readonly Message[]): Converted<Spoken>
  /** The same in this format's writing. */
  write(spoken: readonly Spoken[]): Converted<Message>
}
