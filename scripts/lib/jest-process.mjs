import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/** More than two tests or hooks that hang one after the other take: Jest itself ends each after its `testTimeout`. */
const silenceMs = 15 * 60_000;
const lookEveryMs = 5_000;
/** How long services that tests started may take to end after a signal. */
const endsMs = 10_000;

/**
 * Runs Jest in a process group of its own, and ends all of it where Jest falls silent or the run is interrupted.
 *
 * @param options.progress the file that the progress reporter writes
 * @param options.quiet keeps what Jest prints for the result
 * @param options.signal ends it
 * @returns its output where it was kept, a sentence where Jest gave no verdict of its own, and the suites that began
 *   and did not end
 */
export async function runJest(args, { cwd, env, progress, quiet, signal }) {
  const stdio = ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'];
  const jest = spawn(process.execPath, args, { cwd, env, stdio, detached: true });
  let output = '';
  for (const stream of [jest.stdout, jest.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = new Promise((resolve) => {
    jest.on('error', (error) => resolve({ broken: error.message }));
    jest.on('close', (code, by) => resolve({ code, ...(by && { broken: `Jest was ended by ${by}` }) }));
  });
  const over = new AbortController();
  const stopped = stopWhenSilent(jest.pid, { progress, signal, over: over.signal });
  const result = await ended;
  over.abort();
  const why = await stopped;
  return { output, code: result.code, broken: why ?? result.broken, running: await runningSuites(progress) };
}

/** @returns why it was stopped, or undefined where it ended by itself */
async function stopWhenSilent(group, { progress, signal, over }) {
  while (!over.aborted) {
    await sleep(lookEveryMs, undefined, { signal: AbortSignal.any([over, signal].filter(Boolean)) }).catch(() => {});
    if (over.aborted) return undefined;
    const silent = Date.now() - (await stat(progress)).mtimeMs > silenceMs;
    if (!silent && !signal?.aborted) continue;
    await endGroup(group, over);
    return silent ? `no test ended for ${silenceMs / 60_000} minutes: it hung, and was stopped` : 'interrupted';
  }
  return undefined;
}

async function endGroup(group, over) {
  kill(group, 'SIGTERM');
  await sleep(endsMs, undefined, { signal: over }).catch(() => {});
  kill(group, 'SIGKILL');
}

function kill(group, signal) {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

async function runningSuites(progress) {
  const running = new Set();
  for (const line of (await readFile(progress, 'utf8')).split('\n')) {
    const [, what, path] = /^(began|ended) (.*)$/.exec(line) ?? [];
    if (what === 'began') running.add(relative('.', path));
    else if (what === 'ended') running.delete(relative('.', path));
  }
  return [...running];
}
