import { readFile } from 'node:fs/promises';
import { findings } from './suites.mjs';
import { capture } from './steps.mjs';

/** More suites than that fail for a reason. */
const most = 3;
const times = 3;
/** How long a test may stay known as flaky before it counts like any other. */
const patienceDays = 14;

/**
 * Runs suites that failed again, each alone: a busy machine makes tests fail that the change did not touch. One that
 * passes each time counts as passed and is reported as flaky; its results are changed.
 *
 * @param lanes what ran: `results`, and `again(path)`, which runs one suite with the settings of its lane
 * @returns a line for each suite that had a second look or was refused one
 */
export async function secondLook(lanes, { flaky = readFlaky, today = dateOfHead } = {}) {
  const failed = lanes.flatMap(({ results, again }) =>
    results.suites.filter((suite) => suite.failed).map((suite) => ({ suite, results, again })),
  );
  if (failed.length === 0) return [];
  if (lanes.some(({ results }) => results.broken)) return ['No second look: Jest itself failed.'];
  if (failed.length > most) return [`No second look: ${failed.length} suites failed, more than ${most}.`];
  const overdue = overdueOf(await flaky(), await today());
  const lines = [];
  for (const { suite, results, again } of failed) {
    const refusal = refusalOf(suite, overdue);
    if (refusal) {
      lines.push(`No second look at ${suite.path}: ${refusal}`);
      continue;
    }
    const failure = await firstFailure(() => again(suite.path));
    if (failure === undefined) {
      results.failed -= suite.failures.length;
      results.passed += suite.failures.length;
      lines.push(...suite.failures.map((one) => flakyLine(suite.path, one)));
    } else lines.push(`FAILED again, alone: ${suite.path}\n${failure}`);
  }
  return lines;
}

function refusalOf({ path, failures, unusable }, overdue) {
  if (unusable) return 'it could not be run, or left handles open.';
  if (findings.some((pattern) => pattern.test(`/${path}`))) return 'it searches for faults, and has found one.';
  const known = overdue.find(({ suite, test }) => suite === path && failures.some((failure) => failure.test === test));
  return known && `test/flaky.json has "${known.test}" since ${known.date}, longer than ${patienceDays} days.`;
}

/** What a suite printed when it failed again, or undefined where it passed each time. */
async function firstFailure(again) {
  for (let time = 0; time < times; time += 1) {
    const { passed, failed, broken, output } = await again();
    if (failed > 0 || passed === 0 || broken) return broken ?? output;
  }
  return undefined;
}

function flakyLine(path, { test, message }) {
  const [first] = message.split('\n');
  return `FLAKY ${path}: ${test}: ${first}. It passed ${times} times alone. Enter it in test/flaky.json, and mend it.`;
}

function overdueOf(entries, today) {
  const oldest = Date.parse(today) - patienceDays * 86_400_000;
  return entries.filter(({ date }) => Date.parse(date) < oldest);
}

/** Entries `{suite, test, date, reason}`. */
async function readFlaky() {
  return JSON.parse(await readFile('test/flaky.json', 'utf8'));
}

/** Not the clock's day: a commit that passed passes. */
async function dateOfHead() {
  return (await capture('git', ['log', '-1', '--format=%cs'])).stdout.trim();
}
