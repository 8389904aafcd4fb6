/** The design's direction of dependencies: cli -> services -> shared; services never import each other. */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'shared-stands-alone',
      severity: 'error',
      from: { path: '^shared/src' },
      to: { path: '^(services|runner|cli|web|sdk)/' },
    },
    {
      name: 'services-do-not-import-each-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/src' },
      to: { path: '^services/([^/]+)/', pathNot: '^services/$1/' },
    },
    {
      name: 'services-below-cli',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^(runner|cli|web|sdk)/' },
    },
    {
      name: 'runner-knows-the-protocol-only',
      severity: 'error',
      from: { path: '^runner/src' },
      to: { path: '^(services|cli|web|sdk|shared)/', pathNot: '^shared/(src|dist)/protocol/' },
    },
    {
      // It is installed without the rest of this repository, and needs nothing but Node.
      name: 'sdk-stands-alone',
      severity: 'error',
      from: { path: '^sdk/src' },
      to: { pathNot: '^sdk/src/' },
    },
    {
      name: 'protocol-stands-alone',
      severity: 'error',
      from: { path: '^shared/src/protocol' },
      to: { path: '^shared/src/', pathNot: '^shared/src/protocol' },
    },
    {
      name: 'worker-has-no-store',
      severity: 'error',
      from: { path: '^services/turn-worker/src' },
      to: { path: '(^shared/(src|dist)/store/|node_modules/better-sqlite3)' },
    },
    {
      name: 'runner-has-no-database-queue-or-engine',
      severity: 'error',
      from: { path: '^(runner/src|shared/src/protocol)' },
      to: { path: 'node_modules/(better-sqlite3|bullmq|ioredis|dockerode)' },
    },
    {
      name: 'sql-lives-in-the-store',
      severity: 'error',
      from: { pathNot: '(^shared/src/store/|/test/|^test/|^bench/)' },
      to: { path: 'node_modules/better-sqlite3' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.test.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['suzumio-source', 'import', 'node', 'default', 'types'],
    },
  },
};
