import { randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { clearTurnDirectories } from './attempt/turn-directory.js';
import { AttemptStates } from './attempt/attempt-states.js';
import { DirectoryLock } from './directory-lock.js';
import { errnoOf } from './files/errno.js';
import { removeTree } from './files/remove-tree.js';
import { writeFileAtomically } from './files/write-file-atomically.js';

/** A worker's own directory, ready for use and locked. */
export interface WorkerDirectory {
  /** Without links, as the engine will see it. */
  path: string;
  /** This worker's id, the same for as long as the directory exists. */
  worker: string;
  /** Names this boot of the machine. */
  boot: string;
  states: AttemptStates;
  shimFile: string;
  release(): Promise<void>;
}

/** A unix socket's path has at most 107 bytes; the door's is below this one. */
const maxPathBytes = 75;

/**
 * Takes a directory for one worker, and clears it of what a former process left in the middle of its work.
 *
 * @throws SuzumioError `settings-invalid` when the path is too long for sockets, `data-dir-in-use` when it is taken
 */
export async function openWorkerDirectory(directory: string, shimFile: string): Promise<WorkerDirectory> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = await realpath(directory);
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new SuzumioError(
      'settings-invalid',
      `The worker's directory ${path} has a path of more than ${maxPathBytes} bytes, which leaves no room for the sockets in it; use a shorter one.`,
    );
  }
  const lock = await DirectoryLock.take(path);
  try {
    await chmod(path, 0o700);
    const states = new AttemptStates(path);
    await states.clear();
    await clearTurnDirectories(path);
    await removeTree(join(path, 'downloads'));
    // A copy, because the engine is only known to see this directory.
    const shim = join(path, 'shim.mjs');
    await copyFile(shimFile, shim);
    await chmod(shim, 0o444);
    return {
      path,
      states,
      shimFile: shim,
      worker: await workerId(path),
      boot: await bootId(),
      release: () => lock.release(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function workerId(directory: string): Promise<string> {
  const path = join(directory, 'worker-id');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    const id = `worker-${randomBytes(6).toString('hex')}`;
    await writeFileAtomically(path, id, { durable: true });
    return id;
  }
}

/** Where the system does not name its boots, each process counts as one. */
async function bootId(): Promise<string> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => randomBytes(16).toString('hex'),
  );
}
