import { readFileSync } from 'node:fs';
import process from 'node:process';
import { essential } from './levels.mjs';
import { capture } from './steps.mjs';
import { allSuites, kindOf } from './suite-files.mjs';

/** What all suites depend on, though none imports it. */
const everything = /^(package-lock\.json|jest\.config\.js|tsconfig\.json|test\/support\/suite-.*)$/;

/**
 * What a command line asks for: `--all`, `--changed REV`, or arguments for Jest, which say themselves which suites.
 *
 * @returns the arguments for Jest, and without any the selection
 */
export async function chosenSuites(argv) {
  const [first, value] = argv.flatMap((one) => /^(--changed)=(.*)$/.exec(one)?.slice(1) ?? one);
  if (first === '--all') {
    // How many cases suites generate: test/support/fast-check.ts.
    process.env.SUZUMIO_TEST_LEVEL = 'all';
    return { args: [], selection: await selectSuites({ all: true }) };
  }
  if (first === '--changed') return { args: [], selection: await selectSuites({ changed: value ?? 'HEAD' }) };
  return argv.length > 0 ? { args: argv } : { args: [], selection: await selectSuites() };
}

/**
 * Chooses suites.
 *
 * @param options.all every suite
 * @param options.changed only those that reach a file that differs from this commit's; without it, the essential level, and
 *   those that reach what has changed since the branch began
 * @returns the paths, and a sentence that says what they are
 */
async function selectSuites({ all = false, changed } = {}) {
  const suites = allSuites();
  if (all) return { all, paths: suites, ran: `Ran every suite: ${suites.length}.` };
  if (changed !== undefined) {
    const base = await commitOf(changed);
    if (base === undefined) throw new Error(`--changed ${changed}: no commit has this name here; origin/main is one.`);
    const paths = await reaching(base, suites);
    return {
      paths,
      ran: `Ran ${paths.length} of ${suites.length} suites: those that reach what differs from ${changed}.`,
    };
  }
  const chosen = new Set(suites.filter((path) => kindOf(path) === 'unit' || path in essential));
  const base = await branchPoint();
  const more = base === undefined ? [] : (await reaching(base, suites)).filter((path) => !chosen.has(path));
  const added = more.length > 0 ? `, and ${more.length} more that reach what changed since ${base.slice(0, 12)}` : '';
  const left = suites.length - chosen.size - more.length;
  return {
    paths: [...chosen, ...more],
    ran: `Ran the essential level, ${chosen.size} suites${added}. npm run test:all has ${left} more.`,
  };
}

/** The words of suites, and of what else of the tree they use. */
export async function wordsOf(paths) {
  const { Imports } = await import('./imports.mjs');
  const isRead = /(^|\/)(test|examples)\/.*\.(ts|mjs|ya?ml)$/;
  return [...new Imports().below(paths)].filter((file) => isRead.test(file)).map((file) => readFileSync(file, 'utf8'));
}

/** The suites that use, directly or through others, a file that differs from a commit's. */
async function reaching(base, suites) {
  const changed = await differing(base);
  if (changed.length === 0) return [];
  if (changed.some((file) => everything.test(file))) return suites;
  const { Imports } = await import('./imports.mjs');
  const above = new Imports().above(changed);
  return suites.filter((path) => above.has(path));
}

async function differing(base) {
  const [tracked, others] = await Promise.all([
    git('diff', '--name-only', '--no-renames', base),
    git('ls-files', '--others', '--exclude-standard'),
  ]);
  return `${tracked}${others}`.split('\n').filter(Boolean);
}

/** Where this branch left the main one, as the remote has it or, on another branch, as it is here. */
async function branchPoint() {
  for (const main of ['origin/main', 'main']) {
    const base = (await commitOf(main)) && (await git('merge-base', 'HEAD', main)).trim();
    if (base) return base;
  }
  return undefined;
}

async function commitOf(name) {
  return (await git('rev-parse', '--verify', '--quiet', `${name}^{commit}`)).trim() || undefined;
}

/** What Git says; nothing where it is not there, or refuses. */
async function git(...args) {
  const { code, stdout } = await capture('git', args);
  return code === 0 ? stdout : '';
}
