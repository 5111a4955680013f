/**
 * One part of a sandbox that a random program edits, and its twin: a plain folder to which the same is done. Whatever
 * the layers make of the edits, the two must look alike.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { described, type Tree, treeOf } from '../../layers/brute-force.ts'
import { applyEdit, editText, removeTree } from '../../layers/edit.ts'
import { toByteString } from '../../layers/names.ts'
import { Editor, type Random } from '../../layers/random-edits.ts'
import type { Overlay } from '../layers.ts'

export interface AreaOptions {
  overlay: Overlay
  /** Where it lies in the overlay's layers: '' for their root. */
  within: string
  /** Keeps the twin, and what it was. */
  folder: string
  /** The area as it is mounted, for this process. */
  view: () => string
  random: Random
  ownersToo: boolean
  /** Told of every edit, for whoever has to do it again. */
  tell: (line: string) => void
}

/** What processes in the sandbox, or the host, do by themselves: the twin knows nothing of it. */
export const isForeign = (path: string): boolean => /^(live-|theirs($|\/))/.test(path)

export class Area {
  readonly overlay: Overlay
  readonly within: string
  readonly twin: string
  readonly #options: AreaOptions
  readonly #editor: Editor
  #saved = 0

  /** Takes the view as it stands for its beginning. */
  constructor(options: AreaOptions) {
    this.#options = options
    this.overlay = options.overlay
    this.within = options.within
    this.twin = join(options.folder, 'twin')
    mkdirSync(options.folder)
    execFileSync('cp', ['-a', '-T', options.view(), this.twin])
    removeTree(toByteString(join(this.twin, 'theirs')))
    this.#editor = new Editor(this.twin, options.random, options.ownersToo, (edit, code) => {
      options.tell(`${options.overlay}: ${editText(edit)} ${code ?? ''}`)
      const inView = applyEdit(toByteString(options.view()), edit)
      expect(inView, `what became of ${editText(edit)}`).toBe(code)
    })
  }

  get view(): string {
    return this.#options.view()
  }

  edit(count: number): void {
    for (; count > 0; count--) this.#editor.edit()
  }

  tree(): Tree {
    return treeOf(this.twin)
  }

  /** @param folder the area as something has it mounted */
  seen(folder: string): string[] {
    return described(ours(treeOf(folder)))
  }

  save(): string {
    const copy = join(this.#options.folder, String(this.#saved++))
    execFileSync('cp', ['-a', '-T', this.twin, copy])
    return copy
  }

  restore(copy: string): void {
    removeTree(toByteString(this.twin))
    execFileSync('cp', ['-a', '-T', copy, this.twin])
  }
}

export const ours = (tree: Tree): Tree => new Map([...tree].filter(([path]) => !isForeign(path)))
