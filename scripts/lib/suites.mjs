import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runJest } from './jest-process.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** Suites that search for faults: what one of them finds by chance is a finding. */
export const findings = [/\/fuzz\//, /hostile/, /crash/, /sigkill/, /faults/];

/**
 * Runs suites.
 *
 * @param options.args what Jest gets on its command line, too
 * @param options.cwd the tree @default the present directory
 * @param options.skip the names of requirements without which this run has to do; by default, what the environment says
 * @param options.scratch where the suites make their temporary files; by default, where the system does
 * @param options.number which ports the suites take, 0 to 3, where Jest runs more than once side by side
 * @param options.firstFailure skips the tests of a suite after the first that fails, and has as few cases as the essential level
 * @param options.quiet keeps what Jest prints for the result
 * @param options.signal ends the run
 * @returns how many tests passed, failed and were skipped (a suite that could not be run is one that failed); each
 *   suite; and `broken`, a sentence, where Jest itself failed
 */
export async function runSuites({ args, cwd, skip, scratch, number = 0, quiet = false, firstFailure = false, signal }) {
  const directory = await mkdtemp(join(tmpdir(), 'suzumio-test-'));
  const outputFile = join(directory, 'results.json');
  const progress = join(directory, 'progress');
  const node = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', `--import=${compileOnce}`];
  const reporters = [...(quiet ? [] : ['default']), here('progress-reporter.mjs')];
  const jest = [
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${outputFile}`,
    ...reporters.map((reporter) => `--reporters=${reporter}`),
    // What a suite leaves open fails that suite, and keeps Jest from nothing. Paths may follow this option.
    '--forceExit',
    ...args,
  ];
  const env = {
    ...process.env,
    ...(skip && { SUZUMIO_TEST_SKIP: skip.join(',') }),
    ...(scratch && { TMPDIR: scratch }),
    ...(firstFailure && { SUZUMIO_TEST_FIRST_FAILURE: 'true', SUZUMIO_TEST_LEVEL: 'essential' }),
    SUZUMIO_TEST_RUN: String(number),
    SUZUMIO_TEST_PROGRESS: progress,
    // Services and commands are started hundreds of times: their code is compiled once.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(directory, 'code'),
    // Its helper image would have to be pulled; the tests remove what they start.
    TESTCONTAINERS_RYUK_DISABLED: 'true',
  };
  try {
    await writeFile(progress, '');
    const { output, code, broken, running } = await runJest([...node, ...jest], { cwd, env, progress, quiet, signal });
    const results = JSON.parse(await readFile(outputFile, 'utf8').catch(() => 'null'));
    const why = broken ?? (results === null ? `Jest ended with exit code ${code} and without results` : undefined);
    const whileRunning = running.length > 0 ? `, in ${running.join(', ')}` : '';
    const failures = quiet ? failuresIn(results?.testResults ?? []) : '';
    return {
      ...resultsOf(results ?? {}, results && code),
      output: `${output}${failures}`,
      broken: why && `${why}${whileRunning}`,
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const compileOnce = new URL('compile-once.mjs', import.meta.url).href;

function failuresIn(suites) {
  const failed = suites.filter(({ status }) => status === 'failed');
  return failed.map(({ name, message }) => `FAIL ${relative('.', name)}\n${message}\n`).join('');
}

function resultsOf(results, code) {
  const failed = (results.numFailedTests ?? 0) + (results.numRuntimeErrorTestSuites ?? 0);
  return {
    passed: results.numPassedTests ?? 0,
    failed: code === 0 ? failed : Math.max(failed, 1),
    skipped: (results.numPendingTests ?? 0) + (results.numTodoTests ?? 0),
    suites: (results.testResults ?? []).map(suiteOf),
  };
}

/** `failures` are the tests that failed; `unusable` says that the suite could not be run, or left handles open. */
function suiteOf({ name, status, startTime, endTime, message, assertionResults }) {
  const failures = assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ test: test.fullName, message: test.failureMessages[0] ?? '' }));
  return {
    path: relative('.', name),
    failed: status === 'failed',
    durationMs: endTime - startTime,
    failures,
    unusable: failures.length === 0 || message.includes('Test suite failed to run'),
  };
}
