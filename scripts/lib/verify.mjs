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
 * Most suites wait more than they compute: there are more of them at a time than processors. Checks that only compute
 * are done beside them, in the time that they leave.
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
  const lanes = [
    ['Suites that start processes', { kinds: ['process'], workers: Math.ceil(processors / 2), skip, number: 1 }],
    ['Other suites', { kinds: ['unit', 'slow'], workers: processors, skip, number: 2 }],
  ];
  const others = some ? [] : lanes.map(([name, lane]) => beside(report, name, lane));
  await Promise.all([checked, containers, ...others]);
}

/** Some kinds of suites. Nothing is mounted from where they keep their files, so that may be in memory. */
function beside(report, heading, { kinds, workers, skip, number }) {
  const args = [`--maxWorkers=${workers}`, '--reporters=summary', '--selectProjects', ...kinds];
  return report.suites(heading, () =>
    withScratch((scratch) => runSuites({ args, skip, scratch, number, start: capture })),
  );
}

async function checks(report, formatted) {
  await formatted;
  for (const [heading, one] of Object.entries(afterBuild)) await check(report, heading, one);
}

function check(report, heading, { command }) {
  return report.attemptBeside(heading, [...inTheTimeLeft, ...command]);
}
