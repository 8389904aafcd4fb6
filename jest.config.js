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

const suites = ['<rootDir>/{shared/*,runner,cli,sdk,web}/test/', '<rootDir>/services/*/test/', '<rootDir>/test/'];

/** A suite's name says what it needs: `x.test.ts` little and soon over, `x.browser.test.ts` a browser. */
const project = (kind, file) => ({
  displayName: kind,
  testMatch: suites.map((directory) => `${directory}**/${file}`),
  globals: { suiteKind: kind },
  setupFilesAfterEnv: ['<rootDir>/test/support/suite-kind.ts'],
  transform,
  // Not in the temporary directory, which differs from kind to kind. Projects inherit no option of the root.
  cacheDirectory: '<rootDir>/.cache/jest',
  testEnvironment: '<rootDir>/test/support/suite-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/\\.cache/'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^@suzumio/(protocol|contract|core|store|runtime)/(.*)$': '<rootDir>/shared/$1/src/$2.ts',
    '^@suzumio/control-plane/(.*)$': '<rootDir>/services/control-plane/src/$1.ts',
    '^@suzumio/runner/(.*)$': '<rootDir>/runner/src/$1.ts',
    '^@suzumio/cli/(.*)$': '<rootDir>/cli/src/$1.ts',
    '^@suzumio/(api|scheduler|toolhost|turn-worker)$': '<rootDir>/services/$1/src/index.ts',
  },
});

export default {
  // Says that something hangs, not that the machine is busy. A wait that hangs ends before it: test/support/poll.ts.
  testTimeout: 900_000,
  projects: [
    project('unit', '!(*.slow|*.process|*.container|*.browser).test.ts'),
    project('slow', '*.slow.test.ts'),
    project('process', '*.process.test.ts'),
    project('container', '*.container.test.ts'),
    project('browser', '*.browser.test.ts'),
  ],
};
