#!/usr/bin/env node
// Says which Node.js it needs before it loads what an older one crashes on: the native SQLite module ends the process.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const required = 22;
const built = new URL('../bundle/dist/main.js', import.meta.url);
/** The one that a clone has installed. */
const own = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= required) {
  if (existsSync(built)) await import('../bundle/dist/main.js');
  else stop('suzumio is not built yet.', 'npm run build   (in the clone)');
} else if (existsSync(own)) {
  await standInFor(own);
} else {
  stop(
    `suzumio needs Node.js ${required} or later; ${process.execPath} is ${process.version}.`,
    'npm run build   (in the clone: it installs one; or put a newer one first on the PATH)',
  );
}

/** Says why nothing can be done, and what would help. */
function stop(why, next) {
  console.error(`${why}\nnext: ${next}`);
  process.exitCode = 1;
}

/** Runs this command under another Node.js, and ends as it does. */
async function standInFor(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child as well; twice would mean "now".
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  process.exitCode = await new Promise((resolve, reject) => {
    child.on('error', reject);
    // As a shell says it of one that a signal has ended.
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
