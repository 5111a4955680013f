import { expect, test } from 'vitest'
import { runsOf } from './ansi.ts'

const ESC = '\u001b'
const plain = (output: string) =>
  runsOf(output)
    .map(({ text }) => text)
    .join('')

test('colours and weight are kept, and end where they end', () => {
  expect(runsOf(`${ESC}[1;31mbad${ESC}[0m fine ${ESC}[92mgood`)).toEqual([
    { text: 'bad', colour: 1, bold: true, dim: false },
    { text: ' fine ', colour: null, bold: false, dim: false },
    { text: 'good', colour: 2, bold: false, dim: false },
  ])
})

test('large palettes are left out together with their parameters', () => {
  expect(runsOf(`${ESC}[38;5;196mx${ESC}[38;2;31;32;33my`).map(({ colour }) => colour)).toEqual([null, null])
})

test('titles, cursor moves and screen clearing do not reach the page', () => {
  expect(plain(`${ESC}]0;title\u0007${ESC}[2J${ESC}[10;5Htext${ESC}(B${ESC}]8;;http://x${ESC}\\link`)).toBe('textlink')
})

test('of a line that was written over only the last state is shown', () => {
  expect(plain('10%\r50%\r100%\nnext\r\n')).toBe('100%\nnext\n')
})
