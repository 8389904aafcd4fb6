import { availableParallelism } from 'node:os';
import { build, staticChecks } from './checks.mjs';
import { withScratch } from './scratch.mjs';
import { runSuites } from './suites.mjs';
import { capture } from './steps.mjs';

const processors = availableParallelism();
const inTheTimeLeft = ['nice', '-n', '10'];
const { Format: format, ...afterBuild } = staticChecks;

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
  const checked = checks(report, formatted);
  const some = args.length > 0;
  const heading = some ? 'Tests' : 'Suites that start containers';
  const containers = Promise.resolve(images()).then(() =>
    report.suites(heading, () =>
      runSuites({ args: [`--maxWorkers=${processors}`, ...(some ? args : ['--selectProjects', 'container'])], skip }),
    ),
  );
  const others = some ? [] : [processes(report, skip), checked.then(() => quick(report, skip))];
  await Promise.all([checked, containers, ...others]);
}

/** Nothing is mounted from where they keep their files, so that may be in memory. */
function processes(report, skip) {
  const args = [`--maxWorkers=${Math.ceil(processors / 2)}`, '--reporters=summary', '--selectProjects', 'process'];
  return report.suites('Suites that start processes', () =>
    withScratch((scratch) => runSuites({ args, skip, scratch, number: 1, start: capture })),
  );
}

function quick(report, skip) {
  const args = [`--maxWorkers=${processors}`, '--reporters=summary', '--selectProjects', 'unit', 'slow'];
  const [nice, ...first] = inTheTimeLeft;
  const start = (program, rest, options) => capture(nice, [...first, program, ...rest], options);
  return report.suites('Other suites', () =>
    withScratch((scratch) => runSuites({ args, skip, scratch, number: 2, start })),
  );
}

async function checks(report, formatted) {
  await formatted;
  for (const [heading, one] of Object.entries(afterBuild)) await check(report, heading, one);
}

function check(report, heading, { command }) {
  return report.attemptBeside(heading, [...inTheTimeLeft, ...command]);
}
