import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'electron-vite'
import type { Plugin } from 'vite'

const root = import.meta.dirname
/** kB. Everything is read from the disk at once: what counts is the whole, and that is kept small by hand. */
const chunkSizeWarningLimit = 2_000

/** Vite's development server puts styles and its client into the page as text, which the page's own policy refuses. */
const developmentPolicy: Plugin = {
  name: 'development-policy',
  apply: 'serve',
  transformIndexHtml: (html) =>
    html
      .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
      .replace("script-src 'self'", "script-src 'self' 'unsafe-inline'"),
}

export default defineConfig({
  main: {
    build: {
      chunkSizeWarningLimit,
      sourcemap: true,
      rollupOptions: {
        input: {
          index: resolve(root, 'src-main/shell/main.ts'),
          host: resolve(root, 'src-main/serve/main.ts'),
          cli: resolve(root, 'src-main/cli/main.ts'),
          // Beside the host, whose code and threads it uses where it embeds one.
          sdk: resolve(root, 'src-main/sdk/index.ts'),
          // Threads find their code by these names.
          'layer-thread': resolve(root, 'src-main/sandbox/layers/layer-thread.ts'),
          'host-folder-thread': resolve(root, 'src-main/sandbox/host-folder/host-folder-thread.ts'),
          // And the process that reads databases its own.
          'database-reader': resolve(root, 'src-main/database/reader.ts'),
          // And the one that connects to ports in a sandbox its own.
          'port-relay': resolve(root, 'src-main/sandbox/tunnel/port-relay.ts'),
        },
      },
    },
  },
  preload: {
    build: {
      chunkSizeWarningLimit,
      externalizeDeps: false,
      rollupOptions: {
        input: { preload: resolve(root, 'src-main/shell/preload.ts') },
        // A sandboxed preload must be one CommonJS file.
        output: { format: 'cjs', entryFileNames: '[name].cjs' },
      },
    },
  },
  renderer: {
    root: 'src-renderer',
    build: {
      chunkSizeWarningLimit,
      minify: true,
      rollupOptions: { input: { index: resolve(root, 'src-renderer/index.html') } },
    },
    plugins: [react(), tailwindcss(), developmentPolicy],
  },
})
