/** Every text colour of every theme on every surface that it stands on, computed from the style sheet itself. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const css = readFileSync(join(import.meta.dirname, 'theme.css'), 'utf8')

type Look = Record<'theme' | 'contrast' | 'colours', string>

/** Variables that hold for a root with these attributes: the rules for `:root`, in the order in which they stand. */
function variablesOf(look: Look): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, selector = '', body = ''] of css.matchAll(/(:root[^{},]*)\{([^}]*)\}/g)) {
    const wanted = [...selector.matchAll(/\[data-(\w+)="(\w+)"\]/g)]
    if (!wanted.every(([, name, value]) => look[name as keyof Look] === value)) continue
    for (const [, name = '', value = ''] of body.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})\b/g)) found.set(name, value)
  }
  return found
}

const luminance = (hex: string): number => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((from) => {
    const part = Number.parseInt(hex.slice(from, from + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const contrast = (one: string, other: string): number => {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const SURFACES = ['base', 'panel', 'raised', 'sunken', 'hover', 'accent-soft']
const ON: Record<string, string[]> = {
  ink: [...SURFACES, 'ok-soft', 'bad-soft', 'warn-soft', 'add', 'add-mark', 'del', 'del-mark'],
  'ink-2': [...SURFACES, 'ok-soft', 'bad-soft', 'warn-soft', 'add', 'del'],
  'ink-3': SURFACES,
  accent: SURFACES,
  ok: [...SURFACES, 'ok-soft'],
  bad: [...SURFACES, 'bad-soft'],
  warn: [...SURFACES, 'warn-soft'],
  'accent-ink': ['accent', 'accent-hover'],
  ...Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`ansi-${n + 1}`, ['base', 'sunken']])),
}

const themes = ['light', 'dark'].flatMap((theme) =>
  ['normal', 'high'].flatMap((contrast) => ['usual', 'safe'].map((colours): Look => ({ theme, contrast, colours }))),
)

describe.each(themes)('$theme, contrast $contrast, colours $colours', (look) => {
  const variables = variablesOf(look)
  const colour = (name: string): string => {
    const value = variables.get(name)
    if (!value) throw new Error(`theme.css has no --${name}`)
    return value
  }

  test('every text can be read', () => {
    const least = look.contrast === 'high' ? 7 : 4.5
    const poor = Object.entries(ON).flatMap(([text, surfaces]) =>
      surfaces
        .map((surface) => ({ text, surface, ratio: contrast(colour(text), colour(surface)) }))
        .filter(({ text, ratio }) => ratio < (text.startsWith('ink') ? least : 4.5)),
    )
    expect(poor).toEqual([])
  })

  test('what is pressed and what is focused stands out', () => {
    for (const surface of SURFACES) expect(contrast(colour('accent'), colour(surface))).toBeGreaterThanOrEqual(3)
  })
})

test('blue and orange, green and red: no theme has a verdict in two colours', () => {
  const of = (colours: string) => variablesOf({ theme: 'light', contrast: 'normal', colours })
  for (const name of ['ok', 'bad', 'warn', 'add', 'del']) expect(of('safe').get(name)).not.toBe(of('usual').get(name))
})
