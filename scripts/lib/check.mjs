import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { staticChecks } from './checks.mjs';
import { withScratch } from './scratch.mjs';
import { printSlow } from './slow-suites.mjs';
import { runSuites } from './suites.mjs';

const unit = ['--selectProjects', 'unit'];
// The code of the tools themselves is compiled once for all runs.
process.env.NODE_COMPILE_CACHE ??= resolve('.cache/code');

/** Static checks, with caches, beside all suites that are soon over. */
export async function checkAll(report) {
  const suites = report.suites('Suites that are soon over', () =>
    withScratch((scratch) => {
      const args = [`--maxWorkers=${availableParallelism()}`, ...unit];
      return runSuites({ args, scratch, quiet: true });
    }),
  );
  for (const [heading, { command, cache }] of Object.entries(staticChecks)) {
    await report.attemptBeside(heading, [...command, ...cache]);
  }
  printSlow((await suites).suites);
}

/** Style and suites of some files and directories, and the types of everything. */
export async function checkPaths(report, paths) {
  const named = paths.every((path) => path.endsWith('.test.ts'));
  // Named by itself, a suite of any kind is run; npm run build comes first where it starts the built programs.
  const args = [...paths.map(suitesOf), '--passWithNoTests', ...(named ? [] : unit)];
  const suites = report.suites('Tests', () => withScratch((scratch) => runSuites({ args, scratch })));
  await report.attemptBeside('Format', ['oxfmt', '--check', '--no-error-on-unmatched-pattern', ...paths]);
  await report.attemptBeside('Lint', ['oxlint', '--deny-warnings', ...paths]);
  // Of what uses them, too, which is quick with what the compiler knows from the last time.
  await report.attemptBeside('Types', ['tsc', '--incremental', '--tsBuildInfoFile', '.cache/types.tsbuildinfo']);
  await suites;
}

/** A pattern of Jest's: `shared/core/src/mail` has its suites in `shared/core/test/mail`, and a file one of its name. */
function suitesOf(path) {
  const place = relative('.', path).replace(/(^|\/)src(\/|$)/, '$1test$2');
  if (statSync(path).isDirectory()) return join('/', place, '/');
  return place.endsWith('.test.ts') ? `/${place}$` : `/${place.replace(/\.\w+$/, '')}\\.`;
}
