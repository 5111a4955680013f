/**
 * The layer rules. `npm run layers` (e2e/check-layers.ts) applies them, and fails too when a source file was not
 * looked at.
 */

/** A folder of src-main imports only from those after it. `contract` stands outside: all may import it. */
const LAYERS = [
  'shell',
  'cli',
  'sdk',
  'serve',
  'mcp',
  'session',
  'report',
  'commit',
  'verification',
  'memory',
  'diff',
  'database',
  'sandbox',
  'store',
]

/**
 * What others may import of a folder: its index. The contract is open as a whole, and serve/ has doors of its own, for
 * clients that must start quickly: neither the contract's schemas nor the host come along. Fixtures are for tests alone,
 * of whatever folder.
 */
const DOORS = [
  '^src-main/[^/]+/index\\.ts$',
  '^src-main/contract/',
  '^src-main/serve/(client/index|launch|home|package-root)\\.ts$',
  '^src-main/memory/stories\\.fixture\\.ts$',
]

const TESTS = '\\.test\\.tsx?$'

const downwards = LAYERS.flatMap((layer, depth) => {
  const above = LAYERS.slice(0, depth)
  if (above.length === 0) return []
  return {
    name: `${layer}-imports-from-below`,
    severity: 'error',
    comment: `${layer}/ imports only from the folders below it`,
    from: { path: `^src-main/${layer}/` },
    to: { path: `^src-main/(${above.join('|')})/` },
  }
})

export default {
  forbidden: [
    ...downwards,
    {
      name: 'through-the-index',
      severity: 'error',
      comment: 'another folder is imported through its index.ts, which says what it offers',
      from: { path: '^src-main/([^/]+)/' },
      to: { path: '^src-main/[^/]+/', pathNot: ['^src-main/$1/', ...DOORS] },
    },
    {
      name: 'through-the-index-from-outside',
      severity: 'error',
      comment: 'src-main is used through the index.ts of its folders',
      from: { path: '^(e2e|bench|src-renderer)/' },
      to: { path: '^src-main/[^/]+/', pathNot: DOORS },
    },
    {
      name: 'contract-stands-alone',
      severity: 'error',
      comment: 'the contract imports nothing of ours',
      from: { path: '^src-main/contract/', pathNot: TESTS },
      to: { path: '^(src-main|src-renderer|e2e|bench)/', pathNot: '^src-main/contract/' },
    },
    {
      name: 'renderer-knows-the-contract-only',
      severity: 'error',
      comment: 'the window talks to the host through the contract and nothing else',
      from: { path: '^src-renderer/', pathNot: TESTS },
      to: { path: '^(src-main|e2e|bench)/', pathNot: '^src-main/contract/' },
    },
    {
      name: 'command-line-starts-light',
      severity: 'error',
      comment:
        'the schemas take longer to load than most commands take; import their types, or them where they are needed',
      from: { path: '^src-main/(cli|serve/client)/', pathNot: TESTS },
      to: {
        path: '^src-main/contract/(index|api|model|events|escalations)\\.ts$',
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'renderer-without-node',
      severity: 'error',
      comment: 'the window runs in a browser',
      from: { path: '^src-renderer/', pathNot: [TESTS, '\\.config\\.ts$'] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'electron-in-shell-only',
      severity: 'error',
      comment: 'everything but the shell runs under plain Node, where importing electron starts a download',
      from: { pathNot: '^(src-main/shell|e2e/electron-standin)/' },
      to: { path: '(^|/)node_modules/electron/|^electron$' },
    },
    {
      name: 'product-without-test-code',
      severity: 'error',
      comment: 'e2e/ and bench/ are for tests',
      from: { path: '^src-(main|renderer)/', pathNot: TESTS },
      to: { path: `^(e2e|bench)/|${TESTS}` },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'types may point back, code may not',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
