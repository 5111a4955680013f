import { expect, test } from 'vitest'
import { colourOf, Screen } from './screen.ts'

const ESC = '\u001b'

function screenOf(columns = 20, rows = 4) {
  const answers: string[] = []
  const screen = new Screen({ size: { columns, rows }, onAnswer: (text) => answers.push(text), onChange: () => {} })
  const write = (text: string) => screen.write(new TextEncoder().encode(text))
  const text = () => screen.lines.map(({ runs }) => runs.map((run) => run.text).join(''))
  return { screen, write, text, answers }
}

test('what is written over is gone, and where the cursor stands is known', async () => {
  const { screen, write, text } = screenOf()
  await write(`one\r\ntwo${ESC}[1;1Hx${ESC}[2;2H`)
  expect(text()).toEqual(['xne', 'two', '', ''])
  expect(screen.cursor).toEqual({ line: 1, column: 1 })
})

test('looks are kept, run by run', async () => {
  const { screen, write } = screenOf()
  await write(`${ESC}[1;31mbad${ESC}[0m ok ${ESC}[38;5;196;48;2;1;2;3mx${ESC}[0m`)
  expect(screen.lines[0]?.runs).toEqual([
    expect.objectContaining({ text: 'bad', ink: 1, bold: true }),
    expect.objectContaining({ text: ' ok ', ink: null, bold: false }),
    expect.objectContaining({ text: 'x', ink: 'rgb(255 0 0)', ground: '#010203' }),
  ])
})

test('bytes that are cut within a character come together', async () => {
  const { screen, text } = screenOf()
  const bytes = new TextEncoder().encode('é日')
  for (const byte of bytes) await screen.write(Uint8Array.of(byte))
  expect(text()[0]).toBe('é日')
})

test('lines that scrolled away stay, as far as they are held, under the names they had', async () => {
  const { screen, write, text } = screenOf(20, 4)
  await write('first\r\n')
  const { id } = screen.lines[0] ?? { id: -1 }
  const numbered = (from: number, to: number) =>
    write(Array.from({ length: to - from }, (_, at) => `line ${from + at}\r\n`).join(''))
  await numbered(0, 100)
  expect(text().slice(0, 2)).toEqual(['first', 'line 0'])
  expect(screen.lines[0]?.id).toBe(id)
  await numbered(100, 2_500)
  const lines = screen.lines
  expect(lines.length).toBe(2_004)
  const at = text().indexOf('line 2400')
  await write('more\r\nand more\r\n')
  expect(text()[at - 2]).toBe('line 2400')
  expect(screen.lines[at - 2]?.id).toBe(lines[at]?.id)
})

test('a question of the program is answered', async () => {
  const { write, answers } = screenOf()
  await write(`ab${ESC}[6n`)
  expect(answers).toEqual([`${ESC}[1;3R`])
})

test('the palette is the one that programs count on', () => {
  expect([colourOf(1, false), colourOf(16, false), colourOf(231, false), colourOf(255, false)]).toEqual([
    1,
    'rgb(0 0 0)',
    'rgb(255 255 255)',
    'rgb(238 238 238)',
  ])
  expect(colourOf(0x0a0b0c, true)).toBe('#0a0b0c')
})
