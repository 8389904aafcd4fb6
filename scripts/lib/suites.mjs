import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { capture, run } from './steps.mjs';

/**
 * Runs suites.
 *
 * @param options.args what Jest gets on its command line, too
 * @param options.skip the names of requirements without which this run has to do; by default, what the environment says
 * @param options.scratch where the suites make their temporary files; by default, where the system does
 * @param options.number which ports the suites take, 0 to 2, where Jest runs more than once side by side
 * @param options.start how Jest is started: `run` or `capture`
 * @returns how many tests passed, failed and were skipped (a suite that could not be run is one that failed), and how
 *   long each suite took, in milliseconds by its path
 */
export async function runSuites({ args, skip, scratch, number = 0, start = run }) {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-test-'));
  const outputFile = join(directory, 'results.json');
  const compileOnce = `--import=${new URL('compile-once.mjs', import.meta.url).href}`;
  const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', compileOnce];
  const jest = ['node_modules/jest/bin/jest.js', '--json', `--outputFile=${outputFile}`, ...args];
  const env = {
    ...process.env,
    ...(skip && { SUZUMIO_TEST_SKIP: skip.join(',') }),
    ...(scratch && { TMPDIR: scratch }),
    SUZUMIO_TEST_RUN: String(number),
    ...(await fuzzSeed()),
    // Services and commands are started hundreds of times: their code is compiled once.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(directory, 'code'),
    // Its helper image would have to be pulled; the tests remove what they start.
    TESTCONTAINERS_RYUK_DISABLED: 'true',
  };
  try {
    const exit = await start(process.execPath, [...node, ...jest], { env, timeoutMs: 45 * 60_000 }).catch(
      (error) => error,
    );
    const results = JSON.parse(await readFile(outputFile, 'utf8').catch(() => '{}'));
    const failed = (results.numFailedTests ?? 0) + (results.numRuntimeErrorTestSuites ?? 0);
    return {
      passed: results.numPassedTests ?? 0,
      failed: exit instanceof Error || exit?.code > 0 ? Math.max(failed, 1) : failed,
      skipped: (results.numPendingTests ?? 0) + (results.numTodoTests ?? 0),
      output: exit?.stderr ?? '',
      durations: (results.testResults ?? []).map(({ name, startTime, endTime }) => [name, endTime - startTime]),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Hostile cases that differ from commit to commit, and are the same for the same one. */
async function fuzzSeed() {
  if (process.env.FUZZ_SEED) return {};
  const { code, stdout } = await capture('git', ['rev-parse', 'HEAD^{tree}']);
  return code === 0 ? { FUZZ_SEED: String(Number.parseInt(stdout.slice(0, 7), 16)) } : {};
}
