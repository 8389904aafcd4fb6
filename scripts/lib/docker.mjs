import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { capture } from './steps.mjs';

/** Whether a Docker engine answers through the machine's own `docker` command. */
export async function engineAnswers() {
  const { code } = await capture('docker', ['version', '--format', '{{.Server.Version}}'], { timeoutMs: 10_000 });
  return code === 0;
}

/** Docker's own default. */
export const usualSocket = '/var/run/docker.sock';

/** The engine's address. Docker's own command knows all that leads to it: `DOCKER_HOST`, `DOCKER_CONTEXT`, the current context. */
export async function dockerHost() {
  const { code, stdout } = await capture('docker', ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}']);
  return (code === 0 && stdout.trim()) || process.env.DOCKER_HOST || `unix://${usualSocket}`;
}

/** Starts an engine that outlives this process, and waits until it answers. One that gives up is started again. */
export async function startEngine({ timeoutMs = 120_000 } = {}) {
  const log = join(mkdtempSync(join(tmpdir(), 'suzumio-dockerd-')), 'dockerd.log');
  const output = openSync(log, 'a');
  console.log(`    starting dockerd, log in ${log}`);
  const deadlineMs = Date.now() + timeoutMs;
  let daemon;
  let failure;
  while (!(await engineAnswers())) {
    if (failure) throw failure;
    if (Date.now() > deadlineMs) {
      throw new Error(`dockerd does not answer; the end of ${log}:\n${readFileSync(log, 'utf8').slice(-2000)}`);
    }
    if (!daemon || daemon.exitCode !== null) {
      for (const [file, name] of pidFiles) removeStalePidFile(file, name);
      daemon = spawn('dockerd', [], { detached: true, stdio: ['ignore', output, output] });
      daemon.on('error', (error) => (failure = error));
      daemon.unref();
    }
    await sleep(250);
  }
}

const pidFiles = [
  ['/var/run/docker.pid', 'dockerd'],
  ['/var/run/docker/containerd/containerd.pid', 'containerd'],
];

/**
 * An engine that was killed leaves its pid files, and the next one takes whatever process has such a number now, even
 * one that is dead and not yet reaped, for a part of it that still runs.
 */
function removeStalePidFile(file, name) {
  if (existsSync(file) && !runs(readFileSync(file, 'utf8').trim(), name)) rmSync(file);
}

function runs(pid, name) {
  try {
    const [, command, state] = /^\d+ \((.*)\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return command === name && state !== 'Z';
  } catch {
    return false;
  }
}
