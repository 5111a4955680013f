export default {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-not-electron',
      severity: 'error',
      comment: 'core must run under plain Node',
      from: { path: '^src-main/(core|server)' },
      to: { path: '^(node_modules/)?electron' },
    },
    {
      name: 'renderer-types-only',
      severity: 'error',
      comment: 'the renderer may use types of main only',
      from: { path: '^src-renderer' },
      to: { path: '^src-main', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'renderer-not-node',
      severity: 'error',
      from: { path: '^src-renderer' },
      to: { dependencyTypes: ['core'] },
    },
    { name: 'unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
}
