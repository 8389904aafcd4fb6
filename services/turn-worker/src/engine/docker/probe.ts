import type Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { AttemptFailure } from '../attempt-failure.js';
import { removeTree } from '../../files/remove-tree.js';
import { shortPath } from '../../files/short-path.js';
import type { Owner } from '../../workspace/restore.js';
import { containerOptions } from './container-options.js';
import { engineFailure } from './engine-errors.js';
import { probeLabels } from './labels.js';

export interface ProbeOptions {
  docker: Docker;
  image: string;
  worker: string;
  workerDir: string;
  owner: Owner;
}

const mib = 1024 * 1024;
const patienceMs = 30_000;
const limits = { memoryBytes: 128 * mib, cpus: 1, pids: 64, readOnlyRoot: true, tmpfs: {} };

/** Runs in the container: reads the marker, writes beside it, connects to the socket. */
const script = `
const fs = require('node:fs');
let marker;
try { marker = fs.readFileSync('/turn/marker', 'utf8'); } catch { process.exit(11); }
try { fs.writeFileSync('/turn/answer', marker); } catch { process.exit(13); }
require('node:net').connect('/turn/door/door.sock').on('connect', () => process.exit(0)).on('error', () => process.exit(12));
`;

/**
 * Starts a container like a turn's, and tests what it can reach.
 *
 * @returns whether a unix socket of the worker's can be reached from inside
 * @throws AttemptFailure when turns could not run: the image is missing, the engine does not see the worker's directory
 */
export async function probeEngine(options: ProbeOptions): Promise<{ socket: boolean }> {
  const { docker, workerDir, owner } = options;
  const directory = join(workerDir, 'probe');
  const doorDirectory = join(workerDir, 'd', 'p');
  const marker = randomBytes(16).toString('hex');
  await removeTree(directory);
  await removeTree(doorDirectory);
  await mkdir(join(directory, 'door'), { recursive: true });
  await mkdir(doorDirectory, { recursive: true });
  await writeFile(join(directory, 'marker'), marker, { mode: 0o644 });
  await chown(directory, owner.uid, owner.gid);
  const short = await shortPath(workerDir);
  const socket = join(short.path, 'd', 'p', 'door.sock');
  const server = createServer((connection) => connection.destroy());
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve));
  await chmod(socket, 0o666);
  let container: Docker.Container | undefined;
  try {
    const image = await docker.getImage(options.image).inspect();
    container = await docker.createContainer(
      containerOptions({
        image: image.Id,
        user: `${owner.uid}:${owner.gid}`,
        limits,
        labels: probeLabels(options.worker),
        environment: {},
        network: { mode: 'none', hosts: [] },
        mounts: [
          { source: directory, target: '/turn', writable: true },
          { source: doorDirectory, target: '/turn/door' },
        ],
        entrypoint: ['node', '-e', script],
        attached: false,
        maxFileBytes: mib,
        maxLogBytes: mib,
      }),
    );
    await container.start();
    const exitCode = await exitOf(container);
    if (exitCode === 13) throw new AttemptFailure('container-start-failed', otherUsers(owner));
    const answer = await readFile(join(directory, 'answer'), 'utf8').catch(() => '');
    if (exitCode === 11 || (exitCode !== 127 && answer !== marker))
      throw new AttemptFailure('container-start-failed', elsewhere(workerDir));
    if (exitCode === 0 || exitCode === 12) return { socket: exitCode === 0 };
    throw new AttemptFailure(
      'container-start-failed',
      `The probe container of ${options.image} ended with exit code ${exitCode}.`,
    );
  } catch (error) {
    if (missingSource.test(messageOf(error))) throw new AttemptFailure('container-start-failed', elsewhere(workerDir));
    throw engineFailure(error, 'run a probe container');
  } finally {
    await new Promise((resolve) => server.close(resolve));
    await short.release();
    await container?.remove({ force: true }).catch(() => undefined);
    await removeTree(directory);
    await removeTree(doorDirectory);
  }
}

/** Engines' messages for a directory that is not on their host, or not shared with containers. */
const missingSource = /bind source path does not exist|mounts denied/i;

function elsewhere(workerDir: string): string {
  return (
    `The engine's host does not have this worker's ${workerDir} at that path. Where the worker is itself a container, ` +
    'mount a directory of the host at the very path that it has there (docker run -v DIR:DIR), and set SUZUMIO_WORKER_DIR to it.'
  );
}

function otherUsers({ uid }: Owner): string {
  return (
    `Containers of this engine cannot write what belongs to user ${String(uid)} here: it maps users, as an engine that is ` +
    'rootless or has userns-remap does. Use an engine without that: docker context use default, or DOCKER_HOST=unix:///var/run/docker.sock.'
  );
}

async function exitOf(container: Docker.Container): Promise<number> {
  const ended = (async () => ((await container.wait()) as { StatusCode: number }).StatusCode)();
  const code = await Promise.race([ended, sleep(patienceMs, undefined, { ref: false })]);
  if (code === undefined)
    throw new AttemptFailure('container-start-failed', `The probe container did not end within ${patienceMs} ms.`);
  return code;
}
