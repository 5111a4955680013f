/** Timing: medians and p95 of repeated calls. These machines are noisy, so figures are read as ratios to a floor of the same run. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface Figure {
  /** Milliseconds. */
  p50: number
  p95: number
  runs: number
}

/** The smallest sample that at least the share `q` of all samples does not exceed. */
const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] ?? Number.NaN

export function figureOf(samples: readonly number[]): Figure {
  const sorted = [...samples].sort((a, b) => a - b)
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), runs: sorted.length }
}

/** @returns milliseconds that `work` took */
export async function timed(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

export async function repeat(runs: number, work: (run: number) => unknown): Promise<Figure> {
  const samples: number[] = []
  for (let run = 0; run < runs; run++) samples.push(await timed(() => work(run)))
  return figureOf(samples)
}

/** An agent does something else between two steps, milliseconds. */
const PAUSE_MS = 100

/** As {@link repeat}, each after a pause. @param prepare what comes before, not measured @returns what is measured */
export async function paced(runs: number, prepare: (run: number) => Promise<() => unknown>): Promise<Figure> {
  const samples: number[] = []
  for (let run = 0; run < runs; run++) {
    const work = await prepare(run)
    await sleep(PAUSE_MS)
    samples.push(await timed(work))
  }
  return figureOf(samples)
}
