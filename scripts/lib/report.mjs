import process from 'node:process';
import { runTests, staticChecks } from './checks.mjs';
import { step } from './steps.mjs';

/** Collects what failed, so that one run shows everything that is wrong. */
export function createReport() {
  const failedSteps = [];
  let tests = { passed: 0, failed: 0, skipped: 0 };

  const failed = (heading, error) => {
    console.log(`    ${error.message}`);
    failedSteps.push(heading);
  };

  /** Does a step; a failure is noted and the next step follows. */
  const attempt = async (heading, work) => {
    try {
      await step(heading, work);
    } catch (error) {
      failed(heading, error);
    }
  };

  /** Everything that holds for a built tree: types, lint, format, dependencies, dead code, tests. */
  const verify = async ({ args, skip }) => {
    for (const [heading, check] of Object.entries(staticChecks)) await attempt(heading, check);
    await attempt('Tests', async () => {
      tests = await runTests({ args, skip });
      if (tests.failed > 0) throw new Error(`${tests.failed} failed`);
      if (tests.skipped > 0 && process.env.CI === 'true') throw new Error('with CI=true nothing is skipped');
    });
  };

  /** The last line is for programs: besides tests, every other step that failed counts as one failure. */
  const finish = () => {
    const failures = tests.failed + failedSteps.filter((heading) => heading !== 'Tests' || tests.failed === 0).length;
    console.log(failures > 0 ? `\nFailed: ${failedSteps.join(', ')}` : '\nAll is well.');
    console.log(`${tests.passed} passed, ${failures} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ''}`);
    process.exitCode = failures > 0 ? 1 : 0;
  };

  return { attempt, failed, verify, finish };
}
