import { availableParallelism } from 'node:os';
import { staticChecks } from './checks.mjs';
import { withScratch } from './scratch.mjs';
import { runSuites } from './suites.mjs';
import { capture } from './steps.mjs';

const processors = availableParallelism();
const inTheTimeLeft = ['nice', '-n', '10'];

/**
 * Everything that holds for a built tree: types, dependencies, dead code, format, lint, and every suite. Suites that
 * start containers and processes wait more than they compute, so the rest is done beside them, in the time that they
 * leave.
 *
 * @param options.args what Jest gets on its command line, too: then it is started once
 * @param options.skip the names of requirements without which this run has to do
 */
export async function verify(report, { args, skip }) {
  await Promise.all([waiting(report, { args, skip }), computing(report, { skip, suites: args.length === 0 })]);
}

function waiting(report, { args, skip }) {
  const kinds = args.length > 0 ? args : ['--selectProjects', 'container', 'process'];
  const workers = `--maxWorkers=${Math.max(2, processors)}`;
  return report.suites(args.length > 0 ? 'Tests' : 'Suites that start containers or processes', () =>
    runSuites({ args: [workers, ...kinds], skip }),
  );
}

async function computing(report, { skip, suites }) {
  for (const [heading, { command }] of Object.entries(staticChecks)) {
    await report.attemptBeside(heading, [...inTheTimeLeft, ...command]);
  }
  if (!suites) return;
  const args = [`--maxWorkers=${Math.ceil(processors / 2)}`, '--reporters=summary', '--selectProjects', 'unit', 'slow'];
  const [nice, ...first] = inTheTimeLeft;
  const start = (program, rest, options) => capture(nice, [...first, program, ...rest], options);
  await report.suites('Other suites', () =>
    withScratch((scratch) => runSuites({ args, skip, scratch, half: 'upper', start })),
  );
}
