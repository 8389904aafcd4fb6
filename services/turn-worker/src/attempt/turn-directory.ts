import { type FSWatcher, watch } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { AttemptRef } from '@suzumio/protocol/attempts';
import { type RunnerTurnInput, type RunnerTurnOutput, runnerTurnOutput } from '@suzumio/protocol/runner';
import { errnoOf } from '../files/errno.js';
import { NotARegularFile, openRegularFile } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import type { Owner } from '../workspace/restore.js';

/** What was found where a turn's output belongs. */
export type OutputRead =
  | { kind: 'valid'; output: RunnerTurnOutput }
  | { kind: 'missing' }
  | { kind: 'too-large'; maxBytes: number }
  | { kind: 'invalid'; why: string };

/** Where turns' directories, and their sockets, are. */
export interface WorkerPaths {
  /** The worker's directory, without links: as the engine sees it. */
  path: string;
  /** A path of its directory of doors that is short enough for sockets below it. */
  sockets: string;
}

export const doorsName = 'd';
const outputName = 'output.json';
const lookMs = 500;

/** The directory of one attempt: the input goes in, the output comes out, and everything else in it is the sandbox's. */
export class TurnDirectory {
  private constructor(
    /** Mounted into the sandbox. */
    readonly path: string,
    /** Holds the door's socket; a directory of its own, mounted over the one in the turn's. */
    readonly doorDirectory: string,
    /** A path of the socket in that directory which is short enough for one. */
    readonly socket: string,
  ) {}

  static async create(
    { path: workerDir, sockets }: WorkerPaths,
    ref: AttemptRef,
    owner: Owner | undefined,
  ): Promise<TurnDirectory> {
    const path = await mkdtemp(join(workerDir, 'turns', `${ref.turn}.${ref.attempt}-`));
    // Where the door is mounted; it is the worker's own, so that nothing inside can replace it.
    await mkdir(join(path, 'door'), { mode: 0o755 });
    if (owner) await chown(path, owner.uid, owner.gid);
    const doorDirectory = await mkdtemp(`${join(workerDir, doorsName)}/`);
    await chmod(doorDirectory, 0o755);
    return new TurnDirectory(path, doorDirectory, join(sockets, basename(doorDirectory), 'door.sock'));
  }

  /** Readable by the runner as any user; the directories above are closed to all others on this host. */
  async writeInput(input: RunnerTurnInput): Promise<void> {
    const path = join(this.path, 'input.json');
    await writeFile(path, JSON.stringify(input), { mode: 0o400 });
    await chmod(path, 0o444);
  }

  /** Reads the output as something that a stranger wrote. */
  async readOutput(maxBytes: number): Promise<OutputRead> {
    try {
      const file = await openRegularFile(join(this.path, outputName));
      try {
        const { size } = await file.stat();
        if (size > maxBytes) return { kind: 'too-large', maxBytes };
        // No more than was there a moment ago, should it still grow.
        const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, 0);
        return parseOutput(buffer.subarray(0, bytesRead).toString('utf8'));
      } finally {
        await file.close();
      }
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return { kind: 'missing' };
      if (error instanceof NotARegularFile) return { kind: 'invalid', why: error.message };
      if (errnoOf(error) === 'EACCES') return { kind: 'invalid', why: 'cannot be read by the worker' };
      throw error;
    }
  }

  /** Calls `appeared` once when a valid output stands there, until the returned function is called. */
  watchOutput(maxBytes: number, appeared: () => void): () => void {
    let reading = false;
    const stop = () => {
      watcher?.close();
      clearInterval(looking);
    };
    const look = () => {
      if (reading) return;
      reading = true;
      this.readOutput(maxBytes)
        .then((read) => {
          if (read.kind !== 'valid') return;
          stop();
          appeared();
        })
        // It is read once more after the end, and that time an error counts.
        .catch(() => undefined)
        .finally(() => (reading = false));
    };
    const watcher = watchDirectory(this.path, (name) => {
      if (name === outputName) look();
    });
    const looking = setInterval(look, lookMs);
    return stop;
  }

  async remove(): Promise<void> {
    await removeTree(this.path);
    await rm(this.doorDirectory, { recursive: true, force: true });
  }
}

/** Not every file system tells of changes, and the system bounds how many it tells of: looking from time to time does, too. */
function watchDirectory(path: string, changed: (name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, (_event, name) => changed(name));
    return watcher.on('error', () => watcher.close());
  } catch {
    return undefined;
  }
}

const names = ['turns', doorsName, 'downloads'];

/** Makes where turns' directories are, where that is not there yet. */
export async function makeTurnDirectories(workerDir: string): Promise<void> {
  for (const name of names) await mkdir(join(workerDir, name), { recursive: true, mode: 0o700 });
}

/** Removes the directories of attempts that a former process of this worker left, and tells of those that cannot go. */
export async function clearTurnDirectories(
  workerDir: string,
  onBusy: (path: string, error: unknown) => void,
): Promise<void> {
  for (const name of names) {
    for (const entry of await readdir(join(workerDir, name))) {
      const path = join(workerDir, name, entry);
      await removeTree(path).catch((error: unknown) => onBusy(path, error));
    }
  }
}

function parseOutput(text: string): OutputRead {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: 'invalid', why: text.trim() === '' ? 'is empty' : 'is not JSON, or was cut off' };
  }
  const parsed = runnerTurnOutput.safeParse(json);
  if (parsed.success) return { kind: 'valid', output: parsed.data };
  const why = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the value'}: ${issue.message}`).join('; ');
  return { kind: 'invalid', why: `does not fit the contract (${why.slice(0, 300)})` };
}
