/**
 * The floors of the house: what each package of `shared` may import. Services stand on the store and the runtime, the
 * command on the services; the runner, which runs in containers, sees the protocol alone.
 */
const floors = {
  protocol: [],
  contract: ['protocol'],
  core: ['protocol', 'contract'],
  store: ['protocol', 'contract', 'core'],
  runtime: ['protocol', 'contract', 'core'],
};

const ours = '^(shared|services|runner|cli|sdk|web)/';
const allOf = (names) => `^shared/(${names.join('|')})/`;

const floorRules = Object.entries(floors).map(([floor, below]) => ({
  name: `floor-${floor}`,
  comment: `${floor} stands on ${below.join(', ') || 'nothing of ours'}.`,
  severity: 'error',
  from: { path: `^shared/${floor}/src` },
  to: { path: ours, pathNot: allOf([floor, ...below]) },
}));

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-circular-folders',
      comment: 'A folder that another one needs can be understood, and moved, without that one.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'store-root-on-sqlite',
      comment: 'What every subject of the store uses, rows and the journal, needs none of them.',
      severity: 'error',
      from: { path: '^shared/store/src/[^/]+$' },
      to: { path: '^shared/store/src/[^/]+/', pathNot: '^shared/store/src/sqlite/' },
    },
    {
      name: 'packages-by-their-names',
      comment: 'A path that leads out of a package would hide what that package depends on.',
      severity: 'error',
      from: { path: '^((?:shared|services)/[^/]+|runner|cli|sdk)/src' },
      to: { path: ours, pathNot: '^$1/', dependencyTypes: ['local'], dependencyTypesNot: ['aliased'] },
    },
    ...floorRules,
    {
      name: 'services-do-not-import-each-other',
      comment: 'But for what the services of a control plane share.',
      severity: 'error',
      from: { path: '^services/([^/]+)/src' },
      to: { path: '^services/([^/]+)/', pathNot: '^services/($1|control-plane)/' },
    },
    {
      name: 'services-below-cli',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^(runner|cli|web|sdk)/' },
    },
    {
      name: 'runner-sees-the-protocol-alone',
      severity: 'error',
      from: { path: '^runner/src' },
      to: { path: ours, pathNot: '^(runner|shared/protocol)/' },
    },
    {
      // It is installed without the rest of this repository, and needs nothing else: contract and protocol are bundled
      // into it.
      name: 'sdk-stands-alone',
      severity: 'error',
      from: { path: '^sdk/src' },
      to: { pathNot: '^(sdk|shared/(contract|protocol))/src/' },
    },
    {
      name: 'worker-has-no-store',
      severity: 'error',
      from: { path: '^services/turn-worker/src' },
      to: { path: '(^shared/store/|^services/control-plane/|node_modules/better-sqlite3)' },
    },
    {
      name: 'core-reads-no-disk',
      comment: 'What rules need of the disk is handed to them.',
      severity: 'error',
      from: { path: allOf(['protocol', 'contract', 'core']) + 'src' },
      to: { path: '^(node:)?(fs|fs/promises|child_process|net|http|https)$' },
    },
    {
      name: 'sql-lives-in-the-store',
      severity: 'error',
      from: { pathNot: '(^shared/store/src/|/test/|^test/|^bench/)' },
      to: { path: 'node_modules/better-sqlite3' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/dist/|^[.]cache/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['suzumio-source', 'import', 'node', 'default', 'types'],
    },
  },
};
