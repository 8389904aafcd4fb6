import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import process from 'node:process';

/** Runs `work` under a heading and prints how long it took. */
export async function step(heading, work) {
  console.log(`\n==> ${heading}`);
  const elapsed = stopwatch();
  const outcome = (state) => `    ${state} after ${elapsed()}`;
  try {
    const result = await work();
    console.log(outcome('done'));
    return result;
  } catch (error) {
    console.log(outcome('FAILED'));
    throw error;
  }
}

/** Says how long it has been running. */
export function stopwatch() {
  const startedMs = performance.now();
  return () => `${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
}

/** A script's whole work: what it throws is told without a stack, since the step's own output is above. */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(`\n${error.message}`);
    process.exitCode = 1;
  }
}

/** Runs a command with this process's own input and output. Rejects unless it exits with 0. */
export async function run(command, args, { timeoutMs, ...options } = {}) {
  const { code, signal } = await finished(
    spawn(command, args, { stdio: 'inherit', ...bound(timeoutMs), ...options }),
    command,
  );
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${signal ?? `exit code ${code}`}`);
}

/** Runs a command and resolves with its exit code (127 where there is no such command) and its output. */
export async function capture(command, args, { timeoutMs, ...options } = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...bound(timeoutMs), ...options });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text));
  try {
    const { code } = await finished(child, command);
    return { code: code ?? 1, ...output };
  } catch (error) {
    return { code: 127, stdout: '', stderr: String(error.message) };
  }
}

/** The absolute path of a command, or undefined. */
export async function which(command) {
  const { code, stdout } = await capture('sh', ['-c', 'command -v "$0"', command]);
  return code === 0 ? stdout.trim() : undefined;
}

const bound = (timeoutMs) => (timeoutMs === undefined ? {} : { timeout: timeoutMs, killSignal: 'SIGKILL' });

function finished(child, command) {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`${command}: ${error.message}`)));
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}
