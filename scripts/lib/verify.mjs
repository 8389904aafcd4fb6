import { statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { build, staticChecks } from './checks.mjs';
import { plantFaults } from './faults.mjs';
import { secondLook } from './second-look.mjs';
import { withScratch } from './scratch.mjs';
import { printSlow } from './slow-suites.mjs';
import { kindOf } from './suite-files.mjs';
import { runSuites } from './suites.mjs';

const processors = availableParallelism();
const inTheTimeLeft = ['nice', '-n', '10'];
/** What the suites write at a time at most, and half as much again. */
const neededMib = 3_000;
const { Format: format, 'Types and lint': longest, ...others } = staticChecks;

const computing = 'Other suites';
const starting = 'Suites that start processes';
const browsing = 'Suites that start a browser';

/**
 * The kinds of suites, and what each begins after. At most twice as many suites run at a time as there are processors:
 * what computes side by side is not done sooner, and each test takes as many times longer. `budget` is what a lane takes on
 * two idle processors with every suite, in seconds; lanes other than that of containers mount nothing from where they keep their files, so
 * that may be in memory. A lane stands behind those that it begins after.
 */
const lanes = [
  { heading: computing, kinds: ['unit', 'slow'], workers: processors, budget: 240, quiet: true, number: 2 },
  {
    heading: starting,
    kinds: ['process'],
    workers: processors,
    budget: 540,
    quiet: true,
    number: 1,
    after: [computing],
  },
  {
    heading: browsing,
    kinds: ['browser'],
    workers: processors,
    budget: 180,
    quiet: true,
    number: 3,
    after: [computing],
    images: true,
  },
  {
    heading: 'Suites that start containers',
    kinds: ['container'],
    workers: processors,
    budget: 540,
    // Chromium fails what it is loading, from this machine too, whenever a network comes or goes, as with each container that has one.
    after: [starting, browsing],
    images: true,
  },
];

/**
 * Everything that holds for a tree: that it can be built, types, dependencies, dead code, format, lint, and every suite.
 * Checks that only compute are done beside the suites, in the time that they leave. Suites that failed by chance have a
 * second look at the end.
 *
 * @param options.args what Jest gets on its command line, too: then it is started once, and nothing runs twice
 * @param options.selection the suites, where `args` does not say which
 * @param options.skip the names of requirements without which this run has to do
 * @param options.images brings the images up to date, where the caller has not
 * @param options.signal ends the run
 */
export async function verify(report, { args, selection, skip, images = () => undefined, signal }) {
  const formatted = check(report, 'Format', format);
  await report.attempt('Space for temporary files', requireSpace);
  await report.attempt('Build', build);
  const checked = checks(report, formatted);
  if (args.length > 0) {
    await images();
    const all = [`--maxWorkers=${processors}`, ...args];
    await Promise.all([checked, report.suites('Tests', () => runSuites({ args: all, skip, signal }))]);
    return;
  }
  const imaged = images();
  const run = (lane, paths) => runLane(lane, { paths, skip, signal });
  const chosen = ({ kinds }) => selection.paths.filter((path) => kinds.includes(kindOf(path)));
  report.ran(selection.ran);
  const running = new Map();
  const ran = lanes.map((lane) => {
    const ended = start(lane, chosen(lane));
    running.set(lane.heading, ended);
    return ended;
  });
  async function start(lane, paths) {
    if (lane.images) await imaged;
    await Promise.all((lane.after ?? []).map((heading) => running.get(heading)));
    if (paths.length === 0) return undefined;
    const results = await report.suites(lane.heading, () => run(lane, paths), lane.budget);
    return { results, again: (path) => run({ ...lane, quiet: true }, [path]) };
  }
  const [all] = await Promise.all([Promise.all(ran), checked]);
  if (signal?.aborted) return;
  const ended = all.filter(Boolean);
  printSlow(ended.flatMap(({ results }) => results.suites));
  if (selection.all) await report.attempt('Planted flaws', () => plantFaults([], { signal }));
  const lines = await secondLook(ended);
  if (lines.length > 0) console.log(`\n==> A second look\n${lines.map((line) => `    ${line}`).join('\n')}`);
}

function runLane({ kinds, workers, quiet = false, number = 0 }, { paths, skip, signal }) {
  const args = [`--maxWorkers=${workers}`, '--selectProjects', ...kinds, '--runTestsByPath', ...paths];
  const run = (scratch) => runSuites({ args, skip, scratch, number, quiet, signal });
  return kinds.includes('container') ? run() : withScratch(run);
}

/** A full disk fails suites in ways that do not name it. */
function requireSpace() {
  const { bavail, bsize } = statfsSync(tmpdir());
  const mib = Math.floor((bavail * bsize) / 2 ** 20);
  if (mib < neededMib)
    throw new Error(`${tmpdir()} has ${mib} MiB left and the suites need ${neededMib}: free some, or set TMPDIR.`);
}

async function checks(report, formatted) {
  await formatted;
  // It would otherwise end after the suites.
  await report.attemptBeside('Types and lint', longest.command);
  for (const [heading, one] of Object.entries(others)) await check(report, heading, one);
}

function check(report, heading, { command }) {
  return report.attemptBeside(heading, [...inTheTimeLeft, ...command]);
}
