import process from 'node:process';
import { run } from './steps.mjs';

/** Compiles every package and bundles the runner, the SDK, the command, the page with the docs, and the services; only what changed. */
export async function build() {
  await run('tsc', ['--build']);
  await run(process.execPath, ['scripts/bundle-runner.mjs']);
  await run(process.execPath, ['scripts/bundle-sdk.mjs']);
  await run(process.execPath, ['scripts/bundle-cli.mjs']);
  await run(process.execPath, ['scripts/bundle-web.mjs']);
  // With the page and the runner beside them.
  await run(process.execPath, ['scripts/bundle-services.mjs']);
}

/**
 * What is checked without running anything, by heading: a command, and its arguments with a cache. The caches see that a
 * file changed, not that what it depends on did; so `npm test` has none.
 */
export const staticChecks = {
  'Types of the tests': {
    command: ['tsc', '--project', 'tsconfig.test.json'],
    cache: ['--incremental', '--tsBuildInfoFile', '.cache/test.tsbuildinfo'],
  },
  'Types of the page': { command: ['tsc', '--project', 'web'], cache: [] },
  'Dependencies between packages': {
    command: ['depcruise', '--config', '.dependency-cruiser.cjs', '.'],
    cache: ['--cache', '.cache/depcruise', '--cache-strategy', 'content'],
  },
  'Dead code': {
    command: ['knip', '--treat-config-hints-as-errors'],
    cache: ['--cache', '--cache-location', '.cache/knip'],
  },
  'Private words': { command: ['node', 'scripts/words.mjs'], cache: [] },
  'Lines of each package': { command: ['node', 'scripts/lines.mjs'], cache: [] },
  Format: { command: ['oxfmt', '--check', '.'], cache: [] },
  Lint: { command: ['oxlint', '--deny-warnings'], cache: [] },
};
