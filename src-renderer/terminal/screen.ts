/**
 * What a program made of its terminal, as lines to draw: xterm's emulator without a page does the work, so that no
 * stylesheet of its own asks the window's policy for more than it allows.
 */
import xterm, { type IBufferCell, type IBufferLine, type Terminal } from '@xterm/headless'
import type { TerminalSize } from '../../src-main/contract/index.ts'

/** Lines above the screen that can be scrolled back to. */
const SCROLLBACK = 2_000

/** A stretch of a line with one look. */
export interface Run {
  text: string
  /** 0-15: the theme's; else a CSS colour; null: the plain ink or ground. */
  ink: number | string | null
  ground: number | string | null
  bold: boolean
  dim: boolean
  italic: boolean
  underline: boolean
  inverse: boolean
}

export interface Line {
  /** Names the line for as long as it is held. */
  id: number
  runs: Run[]
}

export interface Cursor {
  /** Index into the lines. */
  line: number
  column: number
}

export interface ScreenOptions {
  size: TerminalSize
  /** Told of what the emulator answers to a program that asks its terminal something. */
  onAnswer: (text: string) => void
  onChange: () => void
}

export class Screen {
  readonly #terminal: Terminal
  /** Lines that were dropped above those held: keeps ids as they were. */
  #dropped = 0

  constructor({ size, onAnswer, onChange }: ScreenOptions) {
    this.#terminal = new xterm.Terminal({ ...colsOf(size), scrollback: SCROLLBACK, allowProposedApi: true })
    this.#terminal.onData(onAnswer)
    this.#terminal.onWriteParsed(onChange)
    const buffer = this.#terminal.buffer
    let wasFull = false
    this.#terminal.onScroll(() => {
      const full = buffer.active.length >= SCROLLBACK + this.#terminal.rows
      if (full && wasFull) this.#dropped++
      wasFull = full
    })
  }

  /** Resolves once it shows. */
  write(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(bytes, resolve))
  }

  resize(size: TerminalSize): void {
    const { cols, rows } = colsOf(size)
    if (cols !== this.#terminal.cols || rows !== this.#terminal.rows) this.#terminal.resize(cols, rows)
  }

  /** Cursor keys say something else to a program that asked for that. */
  get applicationKeys(): boolean {
    return this.#terminal.modes.applicationCursorKeysMode
  }

  get bracketedPaste(): boolean {
    return this.#terminal.modes.bracketedPasteMode
  }

  get lines(): Line[] {
    const { active } = this.#terminal.buffer
    const cell = active.getNullCell()
    const lines: Line[] = []
    for (let at = 0; at < active.length; at++) {
      const line = active.getLine(at)
      if (line) lines.push({ id: this.#dropped + at, runs: runsOf(line, cell) })
    }
    return lines
  }

  get cursor(): Cursor {
    const { baseY, cursorX, cursorY } = this.#terminal.buffer.active
    return { line: baseY + cursorY, column: cursorX }
  }

  dispose(): void {
    this.#terminal.dispose()
  }
}

const colsOf = ({ columns, rows }: TerminalSize) => ({ cols: columns, rows })

function runsOf(line: IBufferLine, cell: IBufferCell): Run[] {
  const runs: Run[] = []
  for (let x = 0; x < line.length; x++) {
    if (!line.getCell(x, cell) || cell.getWidth() === 0) continue
    const run = lookOf(cell)
    const last = runs.at(-1)
    if (last && sameLook(last, run)) last.text += run.text
    else runs.push(run)
  }
  const last = runs.at(-1)
  // Cells that nothing was written to: a line is as long as what stands in it.
  if (last && last.ground === null && !last.inverse && !last.underline) last.text = last.text.trimEnd()
  return runs.filter(({ text }) => text !== '')
}

const lookOf = (cell: IBufferCell): Run => ({
  text: cell.isInvisible() ? ' ' : cell.getChars() || ' ',
  ink: cell.isFgDefault() ? null : colourOf(cell.getFgColor(), cell.isFgRGB()),
  ground: cell.isBgDefault() ? null : colourOf(cell.getBgColor(), cell.isBgRGB()),
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0,
  italic: cell.isItalic() !== 0,
  underline: cell.isUnderline() !== 0,
  inverse: cell.isInverse() !== 0,
})

const sameLook = (a: Run, b: Run): boolean =>
  a.ink === b.ink &&
  a.ground === b.ground &&
  a.bold === b.bold &&
  a.dim === b.dim &&
  a.italic === b.italic &&
  a.underline === b.underline &&
  a.inverse === b.inverse

/** The xterm palette: 16 colours of the theme, a cube of 6 x 6 x 6, 24 greys. */
export function colourOf(value: number, isRgb: boolean): number | string {
  if (isRgb) return `#${value.toString(16).padStart(6, '0')}`
  if (value < 16) return value
  if (value >= 232) {
    const grey = 8 + (value - 232) * 10
    return `rgb(${grey} ${grey} ${grey})`
  }
  const step = (n: number) => (n === 0 ? 0 : 55 + n * 40)
  const at = value - 16
  return `rgb(${step(Math.floor(at / 36))} ${step(Math.floor(at / 6) % 6)} ${step(at % 6)})`
}
