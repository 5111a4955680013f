/**
 * Runs a task whenever it is wanted, one at a time: wishes that come while it runs are one more run afterwards, after
 * a breath. A burst of a thousand events is thus a handful of questions, and the last one sees the last state.
 */
const BREATH_MS = 120

/** @returns the way to want it */
export function createPacer(task: () => Promise<void>): () => void {
  let running = false
  let wanted = false
  async function run(): Promise<void> {
    running = true
    while (wanted) {
      wanted = false
      await task()
      await new Promise((resolve) => setTimeout(resolve, BREATH_MS))
    }
    running = false
  }
  return () => {
    wanted = true
    if (!running) void run()
  }
}
