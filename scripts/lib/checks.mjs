import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { run } from './steps.mjs';

/** Compiles every package and bundles the runner; only what changed. */
export async function build() {
  await run('tsc', ['--build']);
  await run(process.execPath, ['scripts/bundle-runner.mjs']);
}

/** What `verify` checks before it runs the tests, by heading. */
export const staticChecks = {
  'Types of the tests': () => run('tsc', ['--project', 'tsconfig.test.json']),
  Lint: () => run('eslint', ['.']),
  Format: () => run('prettier', ['--check', '--log-level', 'warn', '.']),
  'Dependencies between packages': () => run('depcruise', ['--config', '.dependency-cruiser.cjs', '.']),
  'Dead code': () => run('knip', []),
};

/**
 * Runs the tests.
 *
 * @param options.args what Jest gets on its command line, too
 * @param options.skip the names of requirements without which this run has to do; by default, what the environment says
 * @returns how many tests passed, failed and were skipped; a suite that could not be run is one that failed
 */
export async function runTests({ args, skip }) {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-test-'));
  const outputFile = join(directory, 'results.json');
  const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const jest = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${outputFile}`, ...args];
  const env = {
    ...process.env,
    ...(skip && { SUZUMIO_TEST_SKIP: skip.join(',') }),
    // Its helper image would have to be pulled; the tests remove what they start.
    TESTCONTAINERS_RYUK_DISABLED: 'true',
  };
  try {
    const exit = await run(process.execPath, [...node, ...jest], { env, timeoutMs: 45 * 60_000 }).catch(
      (error) => error,
    );
    const results = JSON.parse(await readFile(outputFile, 'utf8').catch(() => '{}'));
    const failed = (results.numFailedTests ?? 0) + (results.numRuntimeErrorTestSuites ?? 0);
    return {
      passed: results.numPassedTests ?? 0,
      failed: exit instanceof Error ? Math.max(failed, 1) : failed,
      skipped: (results.numPendingTests ?? 0) + (results.numTodoTests ?? 0),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
