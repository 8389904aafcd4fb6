import process from 'node:process';
import { run } from './steps.mjs';

const script = (name) => run(process.execPath, [`scripts/${name}.mjs`]);

/** Bundles the command with what it serves and starts: the page with the docs, and the runner. Types are checked elsewhere. */
export async function buildCommand() {
  // The page asks the API with the SDK.
  const page = script('bundle-sdk').then(() => script('bundle-web'));
  await Promise.all([script('bundle-runner'), script('bundle-cli'), page]);
}

/** The services as well, from which their images are made. */
export async function buildServices() {
  await buildCommand();
  // With the page and the runner beside them.
  await script('bundle-services');
}

/** All, with what suites and tools import by itself, and the types of the SDK. */
export async function build() {
  await Promise.all([buildServices(), script('compile').then(() => script('sdk-types'))]);
}

/**
 * What is checked without running anything, by heading: a command, and its arguments with a cache. The caches see that a
 * file changed, not that what it depends on did; so `npm test` has none. The longest is the first.
 */
export const staticChecks = {
  'Types and lint': { command: ['oxlint', '--deny-warnings'], cache: [] },
  'Dependencies between packages': { command: ['node', 'scripts/import-rules.mjs'], cache: [] },
  'Dead code': {
    command: ['knip', '--treat-config-hints-as-errors'],
    cache: ['--cache', '--cache-location', '.cache/knip'],
  },
  'Private words': { command: ['node', 'scripts/words.mjs'], cache: [] },
  'Lines of each package': { command: ['node', 'scripts/lines.mjs'], cache: [] },
  'Planted flaws apply': { command: ['node', 'scripts/faults.mjs', '--check'], cache: [] },
  Format: { command: ['oxfmt', '--check', '.'], cache: [] },
};
