/** Where the window stands, remembered between runs and fitted to the screens that are there now. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'

export interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

export interface Placement {
  bounds: Rectangle
  maximized: boolean
}

export const DEFAULT_SIZE = { width: 1280, height: 800 }
export const MINIMUM_SIZE = { width: 800, height: 500 }
/** So much of the window must be on a screen to count as reachable. */
const REACHABLE = 120

/**
 * @param remembered null on a first run
 * @param screens work areas of the screens, the primary one first
 * @returns the bounds to open with; without x and y the platform chooses the place
 */
export function fitToScreens(remembered: Rectangle | null, screens: readonly Rectangle[]): Partial<Rectangle> {
  const screen = remembered && screens.find((screen) => overlaps(remembered, screen))
  if (!remembered || !screen) {
    const { width, height } = screens[0] ?? DEFAULT_SIZE
    return { width: Math.min(DEFAULT_SIZE.width, width), height: Math.min(DEFAULT_SIZE.height, height) }
  }
  const width = clamp(remembered.width, MINIMUM_SIZE.width, screen.width)
  const height = clamp(remembered.height, MINIMUM_SIZE.height, screen.height)
  return {
    x: clamp(remembered.x, screen.x, screen.x + screen.width - width),
    y: clamp(remembered.y, screen.y, screen.y + screen.height - height),
    width,
    height,
  }
}

/** @returns what was remembered; null where there is nothing or it cannot be read as such */
export function loadPlacement(file: string): Placement | null {
  try {
    const { bounds, maximized } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Placement>
    const numbers = [bounds?.x, bounds?.y, bounds?.width, bounds?.height]
    if (!bounds || !numbers.every(Number.isFinite)) return null
    return { bounds, maximized: maximized === true }
  } catch {
    return null
  }
}

export function savePlacement(file: string, placement: Placement): void {
  writeFileSync(`${file}.tmp`, JSON.stringify(placement), { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
}

function overlaps(a: Rectangle, b: Rectangle): boolean {
  const wide = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)
  const high = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y)
  return wide >= REACHABLE && high >= REACHABLE
}

function clamp(value: number, least: number, most: number): number {
  return Math.round(Math.max(least, Math.min(value, most)))
}
