import { chmod, chown, mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type * as z from 'zod';
import type { AttemptRef } from '@suzumio/protocol/attempts';
import type { ComparisonInput } from '@suzumio/protocol/repository-diff';
import {
  maxOutputMembers,
  type RunnerTurnInput,
  type RunnerTurnOutput,
  runnerTurnOutput,
} from '@suzumio/protocol/runner';
import { countMembers } from '@suzumio/protocol/count-members';
import { errnoOf } from '../files/errno.js';
import { NotARegularFile, openRegularFile } from '../files/regular-file.js';
import { removeTree } from '../files/remove-tree.js';
import type { Owner } from '../workspace/restore.js';

/** What was found at the path of a turn's output. */
export type OutputRead<Output = RunnerTurnOutput> =
  | { kind: 'valid'; output: Output }
  | { kind: 'missing' }
  | { kind: 'too-large'; maxBytes: number }
  | { kind: 'invalid'; why: string };

/** The directories of turns and of their sockets. */
export interface WorkerPaths {
  /** The worker's directory with links resolved, as the engine sees it. */
  path: string;
  /** A path of its door directory, short enough for sockets below it. */
  sockets: string;
}

export const doorsName = 'd';
const outputName = 'output.json';
const lookMs = 500;
/** The share of its time that a watch may spend reading what a sandbox left. */
const share = 0.05;

/** The directory of one attempt: it holds the input and the output, and everything else in it is the sandbox's. */
export class TurnDirectory {
  private constructor(
    /** Mounted into the sandbox. */
    readonly path: string,
    /** Holds the door's socket, and what the sandbox may not write; mounted over `door` in the turn's directory. */
    readonly doorDirectory: string,
    /** A path of that directory that is short enough for sockets in it. */
    private readonly shortPath: string,
  ) {}

  /** The path of the door's socket. */
  get socket(): string {
    return join(this.shortPath, 'door.sock');
  }

  /** Where a turn without a file system of its own keeps temporary files; made by what runs it. */
  get temporary(): string {
    return join(this.shortPath, 'tmp');
  }

  /** Holds the local toolpacks, which the sandbox reads and never writes; there where there are any. */
  get toolpacks(): string {
    return join(this.doorDirectory, 'toolpacks');
  }

  static async create(
    { path: workerDir, sockets }: WorkerPaths,
    ref: AttemptRef,
    owner: Owner | undefined,
  ): Promise<TurnDirectory> {
    await makeTurnDirectories(workerDir);
    const path = await mkdtemp(join(workerDir, 'turns', `${ref.turn}.${ref.attempt}-`));
    // The door's mount point. The worker owns it, so that nothing inside can replace it.
    await mkdir(join(path, 'door'), { mode: 0o755 });
    if (owner) await chown(path, owner.uid, owner.gid);
    const doorDirectory = await mkdtemp(`${join(workerDir, doorsName)}/`);
    await chmod(doorDirectory, 0o755);
    return new TurnDirectory(path, doorDirectory, join(sockets, basename(doorDirectory)));
  }

  /** Readable by the runner as any user; the parent directories are closed to other users of this host. */
  async writeInput(input: RunnerTurnInput | ComparisonInput): Promise<void> {
    const path = join(this.path, 'input.json');
    await writeFile(path, JSON.stringify(input), { mode: 0o400 });
    await chmod(path, 0o444);
  }

  /** Reads a turn's output, which is untrusted. */
  readOutput(maxBytes: number): Promise<OutputRead> {
    return this.readOutputAs(runnerTurnOutput, maxBytes);
  }

  /** Reads an output of this shape, which is untrusted. */
  async readOutputAs<Output>(schema: z.ZodType<Output>, maxBytes: number): Promise<OutputRead<Output>> {
    try {
      const file = await openRegularFile(join(this.path, outputName));
      try {
        const { size } = await file.stat();
        if (size > maxBytes) return { kind: 'too-large', maxBytes };
        // The file may still grow: only the size seen before is read.
        const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, 0);
        return parseOutput(schema, buffer.subarray(0, bytesRead));
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

  /**
   * Calls `appeared` once when a valid output exists, until the returned function is called. Nobody is told of changes: a sandbox
   * could make more of them than a worker can take.
   */
  watchOutput(maxBytes: number, appeared: () => void, everyMs = lookMs): () => void {
    let timer: NodeJS.Timeout | undefined;
    let stopped = false;
    const look = async () => {
      const startedAt = performance.now();
      // Errors here are ignored: the output is read again after the end, when an error counts.
      const read = await this.readOutput(maxBytes).catch(() => undefined);
      if (stopped) return;
      if (read?.kind === 'valid') appeared();
      else lookIn(Math.max(everyMs, (performance.now() - startedAt) / share));
    };
    const lookIn = (ms: number) => (timer = setTimeout(() => void look(), ms));
    lookIn(everyMs);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }

  async remove(): Promise<void> {
    await removeTree(this.path);
    await removeTree(this.doorDirectory);
  }
}

const names = ['turns', doorsName, 'downloads'];

/** Creates the parents of turns' directories where they are missing. */
export async function makeTurnDirectories(workerDir: string): Promise<void> {
  for (const name of names) await mkdir(join(workerDir, name), { recursive: true, mode: 0o700 });
}

/** Removes attempts' directories from this worker's previous process, and reports those that cannot be removed. */
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

function parseOutput<Output>(schema: z.ZodType<Output>, bytes: Buffer): OutputRead<Output> {
  if (countMembers(bytes, maxOutputMembers) > maxOutputMembers) {
    return { kind: 'invalid', why: `has more than ${String(maxOutputMembers)} members in its lists and objects` };
  }
  const text = bytes.toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: 'invalid', why: text.trim() === '' ? 'is empty' : 'is not JSON, or was cut off' };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { kind: 'valid', output: parsed.data };
  const why = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the value'}: ${issue.message}`).join('; ');
  return { kind: 'invalid', why: `does not fit the contract (${why.slice(0, 300)})` };
}
