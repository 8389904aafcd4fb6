/** Tests run against the sources; `npm test` and `npm run verify` build first for the tests that start processes. */
const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
      module: { type: 'es6' },
      sourceMaps: 'inline',
    },
  ],
};

const project = (displayName, testMatch, extra = {}) => ({
  displayName,
  testMatch,
  transform,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@suzumio/shared/(.*)$': '<rootDir>/shared/src/$1.ts',
    '^@suzumio/runner/(.*)$': '<rootDir>/runner/src/$1.ts',
    '^@suzumio/cli/(.*)$': '<rootDir>/cli/src/$1.ts',
    '^@suzumio/(api|scheduler|toolhost|turn-worker)$': '<rootDir>/services/$1/src/index.ts',
  },
  ...extra,
});

export default {
  // Says that something hangs, not that the machine is busy.
  testTimeout: 60_000,
  // Most suites wait for others (processes, containers) more than they compute.
  maxWorkers: 2,
  projects: [
    project('unit', ['<rootDir>/{shared,runner,cli,sdk}/test/**/*.test.ts', '<rootDir>/services/*/test/**/*.test.ts']),
    project('e2e', ['<rootDir>/test/**/*.test.ts']),
  ],
};
