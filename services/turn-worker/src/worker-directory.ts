import { randomBytes } from 'node:crypto';
import { chmod, copyFile, mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { clearTurnDirectories, doorsName, makeTurnDirectories, type WorkerPaths } from './attempt/turn-directory.js';
import { AttemptStates } from './attempt/attempt-states.js';
import { DirectoryLock, removeDeadSockets } from './directory-lock.js';
import { errnoOf } from './files/errno.js';
import { removeShortPaths, shortPath } from './files/short-path.js';
import { writeFileAtomically } from './files/write-file-atomically.js';

/** More workers than any host runs: if all subdirectories are taken, something is wrong. */
const mostWorkers = 1_000;

/** A worker's own directory, ready for use and locked. */
export interface WorkerDirectory extends WorkerPaths {
  /** This worker's id, the same for as long as the directory exists. */
  worker: string;
  /** Identifies this boot of the machine. */
  boot: string;
  states: AttemptStates;
  /**
   * Removes turns' directories of the previous process. Nothing may still run of them; one that is still written to is
   * left, and reported to `onBusy`.
   */
  clear(onBusy: (path: string, error: unknown) => void): Promise<void>;
  shimFile: string;
  release(): Promise<void>;
}

/**
 * Locks a directory for one worker. The previous process's turns stay until they are cleared: some may still be
 * running.
 *
 * @throws SuzumioError `data-dir-in-use` when another worker has it
 */
export async function openWorkerDirectory(directory: string, shimFile: string): Promise<WorkerDirectory> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = await realpath(directory);
  const short = await shortPath(path);
  const lock = await DirectoryLock.take(short.path).catch(async (error: unknown) => {
    await short.release();
    throw error;
  });
  const release = async () => {
    await lock.release();
    await short.release();
  };
  try {
    await chmod(path, 0o700);
    await removeDeadSockets(path);
    await removeShortPaths(path, short.path);
    await makeTurnDirectories(path);
    // A copy, because the engine may see only this directory.
    const shim = join(path, 'shim.mjs');
    await rm(shim, { force: true });
    await copyFile(shimFile, shim);
    await chmod(shim, 0o444);
    return {
      path,
      states: await AttemptStates.open(path),
      clear: (onBusy) => clearTurnDirectories(path, onBusy),
      shimFile: shim,
      worker: await workerId(path),
      boot: await bootId(),
      sockets: join(short.path, doorsName),
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Locks the first free subdirectory of `1`, `2`, …: one of a stopped worker, with its workspaces, before a new one. */
export async function openFreeSubdirectory(directory: string, shimFile: string): Promise<WorkerDirectory> {
  for (let number = 1; ; number += 1) {
    try {
      return await openWorkerDirectory(join(directory, String(number)), shimFile);
    } catch (error) {
      if (!isSuzumioError(error, 'data-dir-in-use') || number === mostWorkers) throw error;
    }
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

/** Where the system does not identify boots, each process counts as one. */
async function bootId(): Promise<string> {
  return readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    (text) => text.trim(),
    () => randomBytes(16).toString('hex'),
  );
}
