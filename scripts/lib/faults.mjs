import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import process from 'node:process';
import { readPromises } from './promises.mjs';
import { capture } from './steps.mjs';
import { kindOf } from './suite-files.mjs';
import { runSuites } from './suites.mjs';

/** A suite that has not found its flaw by then has not found it. */
const patienceMs = 5 * 60_000;
/** How a patch says that the suite starts what has the flaw, which has to be built. */
const isBuilt = /^It is seen in what is built\.$/m;

/**
 * Plants each flaw in a copy of the tree and runs the suite that is to find it.
 *
 * @param names those of some @default all
 * @param options.signal ends it
 * @throws Error that names each flaw that was not found, or whose patch does not apply any more
 */
export async function plantFaults(names = [], { signal } = {}) {
  const rows = readPromises().filter(({ name }) => names.length === 0 || names.includes(name));
  const left = rows.filter(({ name }) => existsSync(patchOf(name)));
  const wrong = [];
  const workers = Array.from({ length: Math.min(availableParallelism(), left.length) }, async (_, number) => {
    const copy = await mkdtemp(join(tmpdir(), 'suzumio-faults-'));
    try {
      copyTree(copy);
      for (let row = left.shift(); row && !signal?.aborted; row = left.shift()) {
        const why = await plant(copy, row, { number, signal });
        console.log(`    ${row.name}: ${why ?? `found by ${row.suite}`}`);
        if (why !== undefined) wrong.push(`${row.name} (${patchOf(row.name)}): ${why}`);
      }
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });
  await Promise.all(workers);
  if (wrong.length > 0) throw new Error(wrong.join('\n    '));
}

/** @throws Error that names each flaw whose patch does not apply any more */
export async function checkFaults() {
  const names = readPromises().map(({ name }) => name);
  const checked = await Promise.all(names.map((name) => capture('git', ['apply', '--check', patchOf(name)])));
  const wrong = names.filter((_name, at) => checked[at].code !== 0);
  if (wrong.length > 0) throw new Error(`Make these anew, they apply no more: ${wrong.map(patchOf).join(', ')}`);
}

const patchOf = (name) => resolve('test/faults', `${name}.patch`);

/** @returns why the flaw was not found */
async function plant(cwd, { name, suite }, { number, signal }) {
  const apply = (...args) => capture('git', ['apply', ...args, patchOf(name)], { cwd });
  const { code, stderr } = await apply();
  if (code !== 0) return `the patch does not apply any more: ${stderr.trim()}`;
  try {
    if (isBuilt.test(readFileSync(patchOf(name), 'utf8'))) {
      const built = await capture(process.execPath, ['scripts/build.mjs'], { cwd });
      if (built.code !== 0) return `what has the flaw cannot be built: ${built.stdout}${built.stderr}`;
    }
    const args = ['--maxWorkers=1', '--selectProjects', kindOf(suite), '--runTestsByPath', suite];
    const until = AbortSignal.any([AbortSignal.timeout(patienceMs), signal].filter(Boolean));
    const { suites, broken } = await runSuites({ args, cwd, number, quiet: true, firstFailure: true, signal: until });
    if (broken) return `${suite} gave no verdict: ${broken}`;
    if (suites.some(({ failures }) => failures.length > 0)) return undefined;
    return suites.some(({ failed }) => failed) ? `${suite} could not be run with it` : `${suite} passes with it`;
  } finally {
    await apply('--reverse');
  }
}

/** What was built comes along; packages that others made are links, and ours are those of the copy. */
function copyTree(copy) {
  const isOmitted = (path) => /(^|\/)(node_modules|\.git)$|^\.cache\/(?!services(\/|$))/.test(path);
  cpSync('.', copy, { recursive: true, filter: (path) => !isOmitted(relative('.', path)) });
  for (const installed of globSync('{.,*,services/*}/node_modules')) {
    const to = join(copy, installed);
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(installed)) {
      if (name === '@suzumio')
        cpSync(join(installed, name), join(to, name), { recursive: true, verbatimSymlinks: true });
      else symlinkSync(resolve(installed, name), join(to, name));
    }
  }
}
