import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { staticChecks } from './checks.mjs';
import { withScratch } from './scratch.mjs';
import { capture } from './steps.mjs';
import { runSuites } from './suites.mjs';

/** What a suite may take that is not named `*.slow`. */
const slowMs = 2_000;
const unit = ['--selectProjects', 'unit'];

/** Static checks, with caches, beside all suites that are soon over. */
export async function checkAll(report) {
  const suites = report.suites('Suites that are soon over', () =>
    withScratch((scratch) => {
      const args = [`--maxWorkers=${availableParallelism()}`, '--reporters=summary', ...unit];
      return runSuites({ args, scratch, start: capture });
    }),
  );
  await report.attemptBeside('Types', ['tsc', '--build']);
  for (const [heading, { command, cache }] of Object.entries(staticChecks)) {
    await report.attemptBeside(heading, [...command, ...cache]);
  }
  tellSlow((await suites).durations);
}

/** Tests and style of some files and directories, or the tests of what imports them; and the types of everything. */
export async function checkPaths(report, paths) {
  const files = paths.flatMap(filesOf);
  const named = paths.filter((path) => path.endsWith('.test.ts'));
  const tests = files.filter((file) => file.endsWith('.test.ts'));
  const sources = files.filter((file) => /\.(ts|js|mjs)$/.test(file));
  const which = tests.length > 0 ? ['--runTestsByPath', ...tests] : ['--findRelatedTests', ...sources];
  // Named by itself, a suite is run whatever it needs; npm run build comes first where it starts the built programs.
  const args = [...which, '--passWithNoTests', ...(named.length === paths.length ? [] : unit)];
  if (sources.length > 0) await report.suites('Tests', () => withScratch((scratch) => runSuites({ args, scratch })));
  await Promise.all([
    styleOf(report, files, sources),
    report.attemptBeside('Types', ['tsc', '--build']).then(() => types(report)),
  ]);
}

async function styleOf(report, files, sources) {
  await report.attemptBeside('Format', ['prettier', '--check', '--log-level', 'warn', '--ignore-unknown', ...files]);
  if (sources.length > 0) await report.attemptBeside('Lint', ['eslint', ...sources]);
}

function types(report) {
  const heading = 'Types of the tests';
  const { command, cache } = staticChecks[heading];
  return report.attemptBeside(heading, [...command, ...cache]);
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative('.', join(entry.parentPath, entry.name)))
    .filter((file) => !/(^|\/)(dist|node_modules)\//.test(file));
}

/** A machine with other work makes suites slow that are not: this fails nothing. */
function tellSlow(durations) {
  const slow = durations
    .filter(([, ms]) => ms > slowMs)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 10);
  if (slow.length === 0) return;
  const lines = slow.map(([file, ms]) => `    ${(ms / 1000).toFixed(1)} s  ${relative('.', file)}`);
  console.log(`\nThe longest beyond ${slowMs / 1000} s; what is so on an idle machine is named *.slow.test.ts:`);
  console.log(lines.join('\n'));
}
