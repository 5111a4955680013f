/** The engine that runs in containers: a build of its own, as all of it is copied there. */
import { resolve } from 'node:path'
import { defineConfig } from 'vite'

const root = import.meta.dirname

export default defineConfig({
  build: {
    ssr: true,
    target: 'node22',
    outDir: 'out/engine',
    emptyOutDir: true,
    copyPublicDir: false,
    rollupOptions: {
      input: {
        engine: resolve(root, 'src-main/sandbox/docker/inside/main.ts'),
        // Threads find their code by these names.
        'layer-thread': resolve(root, 'src-main/sandbox/layers/layer-thread.ts'),
        // And the process that connects to ports its own.
        'port-relay': resolve(root, 'src-main/sandbox/tunnel/port-relay.ts'),
      },
      output: { entryFileNames: '[name].js', chunkFileNames: '[name].js', format: 'es' },
    },
  },
  ssr: { noExternal: true },
})
