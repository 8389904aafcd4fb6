import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { run, step } from './steps.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'node_modules/.bin');
export const projectNode = join(root, 'node_modules/node/bin/node');

/**
 * Installs the locked packages that the caller needs where they are missing or out of date, then makes sure that the calling script runs on
 * the Node among them: a script that was started by an older Node is started again and this process only stands in
 * for it. Everything up to here must therefore run on any Node that npm runs on.
 *
 * @param options.checks whether what only suites and static checks need (`devDependencies`) is wanted, too: half of all
 */
export async function onProjectNode({ checks = true } = {}) {
  process.chdir(root);
  // Some tools take CI=true for a terminal that shows colours; tests should see the same text everywhere.
  if (!process.stdout.isTTY && !process.env.FORCE_COLOR) process.env.NO_COLOR = '1';
  const installs = !isInstalled(checks);
  if (installs) await step('Install the locked packages', () => install(checks));
  if (!(process.env.PATH ?? '').startsWith(bin)) process.env.PATH = `${bin}${delimiter}${process.env.PATH ?? ''}`;
  if (installs || realpathSync(process.execPath) !== realpathSync(projectNode)) await standInFor(projectNode);
}

/** `.npmrc` runs no install scripts (what needs a binary ships it, and npm would compile it again), except Node's. */
async function install(checks) {
  await run('npm', ['ci', '--loglevel=error', ...(checks ? [] : ['--omit=dev'])]);
  await run('npm', ['rebuild', 'node', '--ignore-scripts=false', '--loglevel=error']);
  if (!isInstalled(checks)) throw new Error('npm ci left node_modules different from package-lock.json');
}

/** By content, not by time stamps: `npm install` and `git checkout` touch the two files in any order. */
function isInstalled(checks) {
  const installed = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed) || !existsSync(projectNode)) return false;
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const want = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const isWanted = ({ optional, devOptional, dev }) => !optional && !devOptional && (checks || !dev);
  return Object.entries(want).every(
    ([path, wanted]) => path === '' || !isWanted(wanted) || have[path]?.version === wanted.version,
  );
}

/** Runs this script again under `node` and ends with its exit code. Never returns. */
async function standInFor(node) {
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child as well; twice would mean "now".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  const exitCode = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
  process.exit(exitCode);
}
