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

/** Starts an engine that outlives this process, and waits until it answers. */
export async function startEngine({ timeoutMs = 60_000 } = {}) {
  removeStalePidFile();
  const log = join(mkdtempSync(join(tmpdir(), 'suzumio-dockerd-')), 'dockerd.log');
  const output = openSync(log, 'a');
  console.log(`    starting dockerd, log in ${log}`);
  const daemon = spawn('dockerd', [], { detached: true, stdio: ['ignore', output, output] });
  const failure = new Promise((resolve) => daemon.on('error', resolve));
  daemon.unref();
  const deadlineMs = Date.now() + timeoutMs;
  while (!(await engineAnswers())) {
    const failed = await Promise.race([failure, sleep(250)]);
    if (failed) throw failed;
    if (Date.now() > deadlineMs) {
      throw new Error(`dockerd does not answer; the end of ${log}:\n${readFileSync(log, 'utf8').slice(-2000)}`);
    }
  }
}

const pidFile = '/var/run/docker.pid';

/** A dockerd that was killed leaves its pid file, and the next one refuses to start when another process has that number. */
function removeStalePidFile() {
  if (!existsSync(pidFile)) return;
  const name = `/proc/${readFileSync(pidFile, 'utf8').trim()}/comm`;
  if (existsSync(name) && readFileSync(name, 'utf8').trim() === 'dockerd') return;
  rmSync(pidFile);
}
