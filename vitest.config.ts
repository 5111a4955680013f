import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src-main/**/*.test.ts', 'src-renderer/**/*.test.{ts,tsx}', 'e2e/**/*.test.ts'],
    // Its entry for Node is of a kind whose names Node does not see.
    server: { deps: { inline: ['jsonc-parser'] } },
    // What a machine with docker would choose is not what most tests are about; those that are, say so.
    env: { REWIND_ENGINE: 'local' },
    // Sandboxes, browsers and hosts are real: start-up on a loaded machine takes its time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
