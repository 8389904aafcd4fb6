import { accessSync, constants, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configDefaults } from '@suzumio/shared/config/defaults';
import { messageOf } from '@suzumio/shared/errors/suzumio-error';
import { checkRedis } from '@suzumio/shared/queue/check-redis';
import { DataDirectory } from '@suzumio/shared/store/data-directory';
import { ReadOnlyCell } from '@suzumio/shared/store/read-only-cell';
import { checkDocker } from '@suzumio/turn-worker';
import { installation } from '../serving/installation.js';
import { findApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';

const oldestNode = 22;

export function checkNode(version: string): Finding {
  const major = Number.parseInt(version.replace(/^v/, ''), 10);
  if (major >= oldestNode) return ok('node', version);
  return broken(
    'node',
    `${version}; ${oldestNode} or later is needed`,
    'install a Node that is still supported, or use the one in node_modules/.bin',
  );
}

export function checkInstallation(
  files: readonly string[] = [installation.runnerBundle, installation.shimFile],
): Finding {
  const missing = files.filter((file) => !existsSync(file));
  if (missing.length === 0) return ok('runner', 'built');
  return broken('runner', `${missing.join(' and ')} not there`, 'npm run build');
}

export function checkDataDirectory(root: string): Finding {
  const directory = new DataDirectory(root);
  if (!existsSync(root)) return ok('data', `${root} will be made by the first init, up or serve`);
  try {
    accessSync(root, constants.R_OK | constants.W_OK | constants.X_OK);
    directory.prepare();
    const projects = new ReadOnlyCell(root).projects();
    return ok('data', `${root}, ${count(projects.length, 'project')}`);
  } catch (error) {
    return broken(
      'data',
      messageOf(error),
      `make ${root} yours and writable, or set SUZUMIO_ROOT to another directory on a local disk`,
    );
  }
}

export async function checkServer(session: Session): Promise<Finding> {
  try {
    const api = await findApi(session);
    if (!api) return skipped('server', `none runs for ${session.root}; ${session.suzumio} serve starts one`);
    await api.projects();
    return ok('server', `answers at ${api.url}`);
  } catch (error) {
    return broken('server', messageOf(error), `look into the log, or stop it and run ${session.suzumio} serve`);
  }
}

/** Engine, image and door, as far as they could be tried. */
export async function checkEngine(root: string, dockerSocket: string | undefined): Promise<Finding[]> {
  const { image } = configDefaults.backend;
  // Where turns will run, so that what containers see of it is what they will see then.
  const directory = await mkdtemp(join(existsSync(root) ? root : tmpdir(), '.doctor-'));
  try {
    const report = await checkDocker({ image, directory, ...(dockerSocket === undefined ? {} : { dockerSocket }) });
    const problem = report.problem?.message ?? '';
    if (report.version === undefined) {
      return [
        broken('docker', problem, 'install Docker or start it (as root: dockerd), and see that you may use its socket'),
      ];
    }
    const docker = ok('docker', `engine ${report.version}`);
    if (report.image !== true)
      return [docker, broken('image', problem, 'npm run images   (npm run images -- --offline without a registry)')];
    const found = [docker, ok('image', image)];
    if (report.door === undefined)
      return [...found, broken('door', problem, `put the data directory where containers can see it, as SUZUMIO_ROOT`)];
    return [
      ...found,
      ok(
        'door',
        report.door === 'socket'
          ? 'a socket, containers without network'
          : 'standard input and output, containers without network',
      ),
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Only `serve` with separate services needs Redis. */
export async function checkQueue(redisUrl: string | undefined): Promise<Finding> {
  if (redisUrl === undefined || redisUrl === '')
    return skipped('redis', 'not configured (SUZUMIO_REDIS_URL): up and serve do without');
  const { problems, version } = await checkRedis(redisUrl);
  if (problems.length === 0) return ok('redis', version ?? 'answers');
  return broken(
    'redis',
    problems.join(' '),
    'start Redis 7 or later with maxmemory-policy noeviction, or correct SUZUMIO_REDIS_URL',
  );
}
