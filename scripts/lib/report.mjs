import process from 'node:process';
import { capture, step, stopwatch } from './steps.mjs';

/** As of a shell whose command Ctrl-C ended. */
const interruptedExitCode = 130;

/**
 * Collects what failed, so that one run shows everything that is wrong.
 *
 * @param options.signal ends the commands that run beside others, and what has not begun does not begin
 */
export function createReport({ signal } = {}) {
  const failedSteps = [];
  /** What came of suites, by heading. */
  const lanes = [];
  /** Sentences that say which suites were chosen. */
  const chosen = [];
  /** Failed steps that are not told by the number of failed tests. */
  let others = 0;

  const failed = (heading, error) => {
    console.log(`    ${error.message}`);
    failedSteps.push(heading);
    others += 1;
  };

  /** Does a step; a failure is noted and the next step follows. */
  const attempt = async (heading, work) => {
    if (signal?.aborted) return;
    try {
      await step(heading, work);
    } catch (error) {
      failed(heading, error);
    }
  };

  /** Runs a command beside others: one that failed has its output printed in one piece. */
  const attemptBeside = async (heading, [command, ...args]) => {
    if (signal?.aborted) return;
    const elapsed = stopwatch();
    const { code, stdout, stderr } = await capture(command, args, { signal });
    console.log(`\n==> ${heading}\n    ${code === 0 ? 'done' : 'FAILED'} after ${elapsed()}`);
    if (code !== 0) failed(heading, new Error(`${stdout}${stderr}`.trimEnd()));
  };

  /** Adds what came of suites to the last line. A budget is what they take on two idle processors, in seconds. */
  const suites = async (heading, work, budget) => {
    if (signal?.aborted) return undefined;
    const elapsed = stopwatch();
    const results = await work();
    lanes.push({ heading, results });
    const outcome = results.failed === 0 ? 'done' : 'FAILED';
    console.log(`\n==> ${heading}\n    ${outcome} after ${elapsed()}${budget ? ` (budget ${budget} s)` : ''}`);
    if (results.failed > 0 && results.output !== '') console.log(results.output);
    if (results.broken) console.log(`    ${results.broken}`);
    if (results.skipped > 0 && process.env.CI === 'true') failed(heading, new Error('with CI=true nothing is skipped'));
    return results;
  };

  /** Says before the last line what ran. */
  const ran = (sentence) => chosen.push(sentence);

  /** The last line is for programs: besides tests, every other step that failed counts as one failure. */
  const finish = () => {
    const sum = (name) => lanes.reduce((total, { results }) => total + results[name], 0);
    const failures = sum('failed') + others;
    const headings = [
      ...failedSteps,
      ...lanes.filter(({ results }) => results.failed > 0).map(({ heading }) => heading),
    ];
    console.log(failures > 0 ? `\nFailed: ${[...new Set(headings)].join(', ')}` : '\nAll is well.');
    for (const sentence of chosen) console.log(sentence);
    const skipped = sum('skipped');
    console.log(`${sum('passed')} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    process.exitCode = failures > 0 ? 1 : 0;
    if (signal?.aborted) process.exitCode = interruptedExitCode;
  };

  return { attempt, attemptBeside, failed, suites, ran, finish };
}
