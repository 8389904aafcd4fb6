import { availableParallelism } from 'node:os';
import { build, staticChecks } from './checks.mjs';
import { withScratch } from './scratch.mjs';
import { runSuites } from './suites.mjs';
import { capture } from './steps.mjs';

const processors = availableParallelism();
const inTheTimeLeft = ['nice', '-n', '10'];
const { Format: format, ...others } = staticChecks;

/**
 * Everything that holds for a tree: that it can be built, types, dependencies, dead code, format, lint, and every suite.
 * Suites that start containers and processes wait more than they compute: there are more of them at a time than
 * processors, and the rest is done beside them, in the time that they leave.
 *
 * @param options.args what Jest gets on its command line, too: then it is started once
 * @param options.skip the names of requirements without which this run has to do
 * @param options.images brings the images up to date, where the caller has not
 */
export async function verify(report, { args, skip, images = () => undefined }) {
  const formatted = check(report, 'Format', format);
  await report.attempt('Build', build);
  await Promise.all([
    waiting(report, { args, skip, images }),
    computing(report, { skip, suites: args.length === 0, formatted }),
  ]);
}

async function waiting(report, { args, skip, images }) {
  await images();
  const kinds = args.length > 0 ? args : ['--selectProjects', 'container', 'process'];
  const workers = `--maxWorkers=${processors + 1}`;
  return report.suites(args.length > 0 ? 'Tests' : 'Suites that start containers or processes', () =>
    runSuites({ args: [workers, ...kinds], skip }),
  );
}

async function computing(report, { skip, suites, formatted }) {
  await formatted;
  for (const [heading, one] of Object.entries(others)) await check(report, heading, one);
  if (!suites) return;
  const args = [`--maxWorkers=${processors}`, '--reporters=summary', '--selectProjects', 'unit', 'slow'];
  const [nice, ...first] = inTheTimeLeft;
  const start = (program, rest, options) => capture(nice, [...first, program, ...rest], options);
  await report.suites('Other suites', () =>
    withScratch((scratch) => runSuites({ args, skip, scratch, half: 'upper', start })),
  );
}

function check(report, heading, { command }) {
  return report.attemptBeside(heading, [...inTheTimeLeft, ...command]);
}
