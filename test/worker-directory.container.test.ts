import { statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { finished } from './support/compose.js';
import { docker } from './support/images.js';

const socket = '/var/run/docker.sock';
const user = process.getuid?.() === 0 ? '1000:1000' : `${String(process.getuid?.())}:${String(process.getgid?.())}`;
const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',').includes('docker');

(skipped ? describe.skip : describe)('a worker in a container, whose directory is of the host', () => {
  let directory: string;
  let worker: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'suzumio-mount-'));
    await chmod(directory, 0o755);
    worker = '';
  });
  afterEach(async () => {
    if (worker !== '') await docker('rm', '--force', worker);
    await rm(directory, { recursive: true, force: true });
  });

  /** Starts a worker that has a directory of the host under some path. */
  async function start(onHost: string, inContainer: string): Promise<void> {
    await mkdir(onHost);
    await chmod(onHost, 0o777);
    const environment = {
      SUZUMIO_CELL: 'mounted',
      SUZUMIO_REDIS_URL: 'redis://127.0.0.1:6379',
      SUZUMIO_WORKER_TOKEN: 'no-such-token-is-known-to-any-toolhost',
      SUZUMIO_WORKER_DIR: inContainer,
      SUZUMIO_WORKER_DIR_SHARED: 'true',
    };
    worker = await docker(
      ...['run', '--detach', '--network', 'none', '--user', user, '--group-add', String(statSync(socket).gid)],
      ...['--volume', `${onHost}:${inContainer}`, '--volume', `${socket}:${socket}`],
      ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      'suzumio-turn-worker:dev',
    );
  }

  const says = (what: string) =>
    eventually(`the worker says "${what}"`, async () =>
      (await finished('docker', ['logs', worker])).out.includes(what),
    );
  const healthy = async () =>
    (await finished('docker', ['exec', worker, 'bash', '/opt/suzumio/healthcheck.sh'])).code === 0;

  test('takes turns where it has the directory under its own path', async () => {
    await start(join(directory, 'worker'), join(directory, 'worker'));
    await says('detected how containers reach the worker');
    await eventually('it is healthy', async () => await healthy());
  });

  test.each([
    ['nothing', []],
    ['another directory', ['worker/1/probe/door', 'worker/1/d/p']],
  ])('takes none where the host has %s under that path, and says what would be right', async (_what, others) => {
    for (const other of others) await mkdir(join(directory, other), { recursive: true });
    await start(join(directory, 'elsewhere'), join(directory, 'worker'));
    await says(
      `the worker accepts no jobs: The engine's host does not have this worker's ${join(directory, 'worker')}/1 at that path. ` +
        'Where the worker is itself a container, mount a directory of the host at the very path that it has there ' +
        '(docker run -v DIR:DIR), and set SUZUMIO_WORKER_DIR to it.',
    );
    expect(await healthy()).toBe(false);
  });
});
