import { randomBytes } from 'node:crypto';
import { link, lstat, readdir, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { errnoOf } from './files/errno.js';

/** Longer than it takes to find a dead lock and replace it. */
const settleMs = 100;

/**
 * Locks a directory for one process. The lock is a listening unix socket: its holder accepts connections, and the
 * system releases it however the process ends.
 */
export class DirectoryLock {
  private constructor(
    private readonly server: Server,
    private readonly path: string,
  ) {}

  /** @throws SuzumioError `data-dir-in-use` when another process has it */
  static async take(directory: string): Promise<DirectoryLock> {
    const path = join(directory, 'lock.sock');
    const own = join(directory, ownName());
    const server = createServer((connection) => connection.destroy());
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(own, resolve));
    server.unref();
    try {
      while (!(await linked(own, path))) {
        if (await answers(path)) throw inUse(directory);
        await unlinkIfThere(path);
      }
      // Where several processes found the same dead lock, the last link wins.
      await sleep(settleMs);
      const [mine, held] = await Promise.all([lstat(own), lstat(path)]);
      if (mine.ino !== held.ino) throw inUse(directory);
      return new DirectoryLock(server, path);
    } catch (error) {
      await closed(server);
      throw error;
    } finally {
      await unlinkIfThere(own);
    }
  }

  async release(): Promise<void> {
    await unlinkIfThere(this.path);
    await closed(this.server);
  }
}

const ownName = () => `.${randomBytes(6).toString('hex')}.sock`;
const isOwnName = /^\.[0-9a-f]{12}\.sock$/;

/** Removes the sockets of processes that were killed while taking a directory's lock. */
export async function removeDeadSockets(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (isOwnName.test(name) && !(await answers(path))) await unlinkIfThere(path);
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (errnoOf(error) !== 'ENOENT') throw error;
  });
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function inUse(directory: string): SuzumioError {
  return new SuzumioError(
    'data-dir-in-use',
    `Another turn-worker uses ${directory}; give each one a directory of its own.`,
  );
}
