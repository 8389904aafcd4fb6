import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import {
  directoriesOf,
  readSnapshot,
  type SnapshotDirectory,
  SnapshotInvalid,
} from '@suzumio/protocol/workspace-snapshot';
import { captureScope } from '@suzumio/protocol/ignored-roots';
import { errnoOf } from '../files/errno.js';
import { capture } from './capture.js';
import { FileClock } from './file-clock.js';
import { type KnownDirectory, type KnownTree, manifestOf, partsOf } from './known-tree.js';
import { KnownTrees } from './known-trees.js';
import type { Content } from './read-file.js';
import { restore } from './restore.js';
import { weigh } from './weigh.js';
import { JobTooLong, WorkspaceTooLarge } from './workspace-errors.js';
import {
  type Ask,
  askFailed,
  type AskKind,
  type Asks,
  type FromThread,
  type Job,
  type JobKind,
  type Jobs,
  jobStopped,
  type Results,
  type ThreadMemory,
  type ToThread,
  type WorkspacePlace,
} from './thread-messages.js';

// The entry point of the threads of WorkspaceThreads: walks, hashes and writes workspaces, several at a time.

/** The most content of a job that is being uploaded, in bytes; a larger file is uploaded alone. */
const windowBytes = 16 * 1024 * 1024;
const windowItems = 8;

const { keptBytes, jobBytes } = workerData as ThreadMemory;
const trees = new KnownTrees(keptBytes, jobBytes);
const running = new Map<number, RunningJob>();

class Failure extends Error {
  constructor(
    override readonly name: string,
    message: string,
  ) {
    super(message);
  }
}

/** A running job, and its requests to the main thread. */
class RunningJob {
  readonly #waiting = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  readonly #sending = new Set<Promise<void>>();
  #sendingBytes = 0;
  #failure: unknown;
  #asks = 0;

  constructor(
    private readonly number: number,
    private readonly stop: Int32Array,
  ) {}

  /** @throws Failure when the job was stopped */
  readonly check = (): void => {
    if (Atomics.load(this.stop, 0) !== 0) throw new Failure(jobStopped, 'The work on a workspace was stopped.');
  };

  ask<Kind extends AskKind>(kind: Kind, asked: Asks[Kind], transfer: ArrayBuffer[] = []): Promise<void> {
    this.#asks += 1;
    const asks = { kind, ...asked } as unknown as Ask;
    post({ job: this.number, ask: this.#asks, asks }, transfer);
    return new Promise((resolve, reject) => this.#waiting.set(this.#asks, { resolve, reject }));
  }

  answer(message: Extract<ToThread, { ask: number }>): void {
    const asked = this.#waiting.get(message.ask);
    this.#waiting.delete(message.ask);
    if (message.isDone) asked?.resolve();
    else asked?.reject(new Failure(askFailed, 'The ToolHost was asked in vain.'));
  }

  /** Sends content to be stored; waits while too much is being uploaded. */
  readonly store = async (content: Content): Promise<void> => {
    const { sizeBytes } = content;
    while (
      this.#sending.size > 0 &&
      (this.#sending.size >= windowItems || this.#sendingBytes + sizeBytes > windowBytes)
    ) {
      await Promise.race(this.#sending);
    }
    this.#requireStored();
    this.#sendingBytes += sizeBytes;
    const sending = this.ask('store', { content }, 'bytes' in content ? [content.bytes.buffer] : [])
      .then(() => {
        if ('file' in content) unlinkSync(content.file);
      })
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#sendingBytes -= sizeBytes;
        this.#sending.delete(sending);
      });
    this.#sending.add(sending);
  };

  /** Resolves when everything sent is stored. */
  async allStored(): Promise<void> {
    await Promise.all(this.#sending);
    this.#requireStored();
  }

  /** Resolves when no upload is pending. */
  async settled(): Promise<void> {
    await Promise.all(this.#sending);
  }

  #requireStored(): void {
    if (this.#failure !== undefined) throw this.#failure as Error;
  }
}

parentPort?.on('message', (message: ToThread) => {
  if ('begin' in message) begin(message.job, message.begin, message.stop);
  else running.get(message.job)?.answer(message);
});

function post(message: FromThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

function begin(number: number, job: Job, stop: Int32Array): void {
  const at = new RunningJob(number, stop);
  running.set(number, at);
  resultOf(job, at)
    .then(
      (done): FromThread => ({ job: number, done }),
      async (error: unknown): Promise<FromThread> => {
        await at.settled();
        if (error instanceof JobTooLong) trees.handOver(job.place);
        const { name, message } = error instanceof Error ? error : new Error(String(error));
        return { job: number, failed: { name, message, code: errnoOf(error) } };
      },
    )
    .then(
      (ended) => {
        running.delete(number);
        post(ended);
      },
      (error: unknown) => {
        throw error;
      },
    );
}

async function resultOf(job: Job, at: RunningJob): Promise<Results[JobKind]> {
  switch (job.kind) {
    case 'restore':
      return carryOutRestore(job.place, job, at);
    case 'capture':
      return carryOutCapture(job.place, job, at);
  }
}

async function carryOutRestore(
  place: WorkspacePlace,
  { snapshot, owner }: Jobs['restore'],
  at: RunningJob,
): Promise<Results['restore']> {
  const before = trees.get(place);
  const { directory, temporary } = place;
  clear(temporary);
  const wanted =
    snapshot === null ? { sha256: undefined, entries: [] } : await wantedOf(snapshot, before, at, temporary);
  const clock = () => FileClock.read(temporary, false);
  const root = await restore(directory, wanted, {
    known: trustedOf(before, clock())?.root,
    clock,
    temporary,
    scope: captureScope(place.ignored, place.tracked),
    own: place.own,
    owner,
    fetch: async ({ sha256, sizeBytes }, path, to) => {
      await at.ask('file', { file: { sha256, sizeBytes }, path, to });
    },
    check: at.check,
  });
  return {
    isRecorded: trees.record(place, { snapshot, atMs: clock().nowMs, root }),
    hasTimes: [...directoriesOf(wanted)].every(({ entries }) =>
      entries.every(({ kind, mtimeUs }) => kind !== 'file' || mtimeUs !== undefined),
    ),
  };
}

/** Requests only manifests that cannot be made of the known content. */
function wantedOf(
  snapshot: string,
  before: KnownTree | undefined,
  at: RunningJob,
  temporary: string,
): Promise<SnapshotDirectory> {
  const known = new Map<string | undefined, KnownDirectory>();
  for (const part of before ? partsOf(before.root) : []) if (part.kind === 'directory') known.set(part.sha256, part);
  let readBytes = 0;
  const read = async (sha256: string) => {
    const part = known.get(sha256);
    const bytes = part ? manifestOf(part) : await fetched(sha256, at, temporary);
    readBytes += bytes.length;
    if (readBytes > jobBytes) throw new JobTooLong();
    if (createHash('sha256').update(bytes).digest('hex') === sha256) return bytes;
    throw new SnapshotInvalid('The content of the snapshot is not what its id says.');
  };
  return readSnapshot(snapshot, read);
}

async function fetched(sha256: string, at: RunningJob, temporary: string): Promise<Uint8Array> {
  const to = join(temporary, `manifest-${sha256}`);
  await at.ask('manifest', { sha256, to });
  const bytes = readFileSync(to);
  unlinkSync(to);
  return bytes;
}

async function carryOutCapture(
  place: WorkspacePlace,
  { live }: Jobs['capture'],
  at: RunningJob,
): Promise<Results['capture']> {
  const { directory, own, temporary, bounds } = place;
  clear(temporary);
  const clock = FileClock.read(temporary, live);
  const known = trustedOf(trees.get(place), clock)?.root;
  const { store, check } = at;
  const scope = captureScope(place.ignored, place.tracked);
  const { root, ...captured } = await capture(directory, {
    bounds,
    maxHeldBytes: jobBytes,
    scope,
    own,
    live,
    clock,
    known,
    staging: temporary,
    store,
    check,
  }).catch((error: unknown) => {
    if (!(error instanceof WorkspaceTooLarge)) throw error;
    const { told } = weigh(directory, { isIgnored: scope.isIgnored, own, check });
    throw new WorkspaceTooLarge(`${error.message} ${told}`);
  });
  await at.allStored();
  const tree = { snapshot: captured.id, atMs: clock.nowMs, root };
  if (live) trees.set(place, tree);
  return { ...captured, isRecorded: !live && trees.record(place, tree) };
}

/** If the clock was set back, later changes may have the times of earlier ones: then every file is read again. */
function trustedOf(tree: KnownTree | undefined, clock: FileClock): KnownTree | undefined {
  if (!tree || tree.atMs <= clock.nowMs) return tree;
  for (const part of partsOf(tree.root)) if (part.kind === 'file') part.seen = undefined;
  return tree;
}

/** Removes leftovers of a killed process. Only this thread writes there. */
function clear(temporary: string): void {
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(temporary)) unlinkSync(join(temporary, name));
}
