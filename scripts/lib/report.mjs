import process from 'node:process';
import { capture, step, stopwatch } from './steps.mjs';

/** Collects what failed, so that one run shows everything that is wrong. */
export function createReport() {
  const failedSteps = [];
  const tests = { passed: 0, failed: 0, skipped: 0 };
  /** Failed steps that are not told by the number of failed tests. */
  let others = 0;

  const failed = (heading, error) => {
    console.log(`    ${error.message}`);
    failedSteps.push(heading);
    others += 1;
  };

  /** Does a step; a failure is noted and the next step follows. */
  const attempt = async (heading, work) => {
    try {
      await step(heading, work);
    } catch (error) {
      failed(heading, error);
    }
  };

  /** Runs a command beside others: one that failed has its output printed in one piece. */
  const attemptBeside = async (heading, [command, ...args]) => {
    const elapsed = stopwatch();
    const { code, stdout, stderr } = await capture(command, args);
    console.log(`\n==> ${heading}\n    ${code === 0 ? 'done' : 'FAILED'} after ${elapsed()}`);
    if (code !== 0) failed(heading, new Error(`${stdout}${stderr}`.trimEnd()));
  };

  /** Adds what came of suites to the last line. */
  const suites = async (heading, work) => {
    const elapsed = stopwatch();
    const { output, ...results } = await work();
    for (const name of Object.keys(tests)) tests[name] += results[name];
    console.log(`\n==> ${heading}\n    ${results.failed === 0 ? 'done' : 'FAILED'} after ${elapsed()}`);
    if (results.failed > 0) {
      if (output !== '') console.log(output);
      failedSteps.push(heading);
    } else if (results.skipped > 0 && process.env.CI === 'true') {
      failed(heading, new Error('with CI=true nothing is skipped'));
    }
    return results;
  };

  /** The last line is for programs: besides tests, every other step that failed counts as one failure. */
  const finish = () => {
    const failures = tests.failed + others;
    console.log(failures > 0 ? `\nFailed: ${failedSteps.join(', ')}` : '\nAll is well.');
    console.log(`${tests.passed} passed, ${failures} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`);
    process.exitCode = failures > 0 ? 1 : 0;
  };

  return { attempt, attemptBeside, failed, suites, finish };
}
