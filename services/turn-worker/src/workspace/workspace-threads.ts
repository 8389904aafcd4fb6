import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isOutOfMemory, memoryLimitBytes } from '@suzumio/protocol/process-memory';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import type { Content } from './read-file.js';
import {
  type Ask,
  askFailed,
  type Asks,
  type FromThread,
  type Job,
  type JobKind,
  type Jobs,
  jobStopped,
  type Results,
  type SentError,
  type ThreadMemory,
  type ToThread,
  type WorkspacePlace,
} from './thread-messages.js';
import { JobTooLong, WorkspaceTooLarge, WorkspaceUnreadable } from './workspace-errors.js';

/** How a job's requests are answered. */
export interface WorkspaceContent {
  store(content: Content): Promise<void>;
  /** Writes a manifest to `to`. */
  manifest(sha256: string, to: string): Promise<void>;
  /** Writes the content of `path` in the workspace to `to`. */
  file(file: Asks['file']['file'], path: string, to: string): Promise<void>;
}

const mib = 1024 ** 2;

/**
 * How many threads work on many workspaces, and the heap limits: a directory with millions of entries ends a thread, not the worker.
 * Of the process's memory, these threads have a quarter. The one for a long job has three eighths: of the 512 MiB that Compose gives,
 * one of the longest workspaces is brought to another one in less.
 */
function heapsOf(memoryBytes: number): { threads: number; heapMb: number; longHeapMb: number } {
  const [heapsMb, longMb] = [1 / 4, 3 / 8].map((share) => Math.floor((memoryBytes * share) / mib)) as [number, number];
  const threads = Math.max(1, Math.min(availableParallelism(), mostThreads, Math.floor(heapsMb / leastHeapMb)));
  return {
    threads,
    heapMb: Math.min(mostHeapMb, Math.floor(heapsMb / threads)),
    longHeapMb: Math.min(mostHeapMb, longMb),
  };
}

const mostThreads = 4;
const leastHeapMb = 128;
const mostHeapMb = 768;
const maxYoungGenerationSizeMb = 16;

/** The shares of a thread's heap for the trees that it keeps, and for each of the jobs that it does at a time. */
const keptShare = 1 / 4;
const jobShare = 1 / 8;
/** Some 150,000 files. */
const mostKeptBytes = 64 * mib;

interface Running {
  content: Partial<WorkspaceContent>;
  stop: Int32Array;
  /** Its requests that are being answered. */
  answers: Set<Promise<void>>;
  resolve(result: Results[JobKind]): void;
  reject(error: unknown): void;
  /** Why the first request failed. */
  failure?: { error: unknown };
}

/**
 * Threads that walk, hash and write workspaces, off the event loop. A workspace always has the same thread. A job that takes too much
 * of its memory has one of its own, one such job after the other; projects take turns.
 */
export class WorkspaceThreads {
  readonly #threads = new Map<number, WorkspaceThread>();
  readonly #heaps: ReturnType<typeof heapsOf>;
  readonly #longJobs = new ProjectTurns();

  /**
   * @param entry the compiled `workspace-thread.ts`
   * @param memoryBytes what this process may use
   */
  constructor(
    private readonly entry: URL,
    memoryBytes = memoryLimitBytes(),
  ) {
    this.#heaps = heapsOf(memoryBytes);
  }

  /**
   * Runs a job. Nobody uses the workspace any more when it resolves or rejects.
   *
   * @param content answers its requests
   * @throws what `signal` was aborted with; what `content` throws; WorkspaceTooLarge, also where it takes more memory than a thread has;
   *   SnapshotInvalid, or a system error
   */
  async run<Kind extends JobKind>(
    kind: Kind,
    place: WorkspacePlace,
    job: Jobs[Kind],
    content: Partial<WorkspaceContent> = {},
    signal?: AbortSignal,
  ): Promise<Results[Kind]> {
    signal?.throwIfAborted();
    const asked = { kind, place, ...job } as Job;
    try {
      return (await this.#threadOf(place).run(asked, content, signal)) as Results[Kind];
    } catch (error) {
      // Where a thread had no room, it may have been another job's.
      if (!(error instanceof JobTooLong) && !isOutOfMemory(error)) throw error;
    }
    const alone = () => this.#runAlone(asked, content, signal);
    return (await this.#longJobs.take(dirname(place.treeFile), alone)) as Results[Kind];
  }

  async #runAlone(
    job: Job,
    content: Partial<WorkspaceContent>,
    signal: AbortSignal | undefined,
  ): Promise<Results[JobKind]> {
    signal?.throwIfAborted();
    const { longHeapMb } = this.#heaps;
    const thread = new WorkspaceThread(this.entry, longHeapMb, { keptBytes: 0, jobBytes: Number.POSITIVE_INFINITY });
    try {
      return await thread.run(job, content, signal);
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      throw new WorkspaceTooLarge(
        `What the workspace has of names and links takes more than the ${longHeapMb} MiB of memory that this worker has to read them: ` +
          'have fewer files or shorter names and links in it, or give the worker more memory.',
        { cause: error },
      );
    } finally {
      await thread.close();
    }
  }

  /** Ends the threads. No job may be running. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()));
  }

  #threadOf({ treeFile }: WorkspacePlace): WorkspaceThread {
    const { threads, heapMb } = this.#heaps;
    const number = createHash('sha256').update(treeFile).digest().readUInt32BE() % threads;
    const running = this.#threads.get(number);
    if (running) return running;
    const keptBytes = Math.min(mostKeptBytes, heapMb * mib * keptShare);
    const thread = new WorkspaceThread(this.entry, heapMb, { keptBytes, jobBytes: heapMb * mib * jobShare }, () =>
      this.#threads.delete(number),
    );
    this.#threads.set(number, thread);
    return thread;
  }
}

class WorkspaceThread {
  readonly #worker: Worker;
  readonly #running = new Map<number, Running>();
  #jobs = 0;

  constructor(entry: URL, maxOldGenerationSizeMb: number, memory: ThreadMemory, onEnd = () => undefined as unknown) {
    const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb };
    this.#worker = new Worker(entry, { workerData: memory, resourceLimits });
    this.#worker.unref();
    let failure: unknown = new Error('The thread of a workspace ended.');
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => {
      failure = error;
    });
    this.#worker.on('exit', () => {
      onEnd();
      for (const job of this.#running.values()) {
        // What is written for it is not written any more when it is done anew.
        const fail = () => job.reject(failure);
        Promise.all(job.answers).then(fail, fail);
      }
    });
  }

  async run(job: Job, content: Partial<WorkspaceContent>, signal: AbortSignal | undefined): Promise<Results[JobKind]> {
    const number = ++this.#jobs;
    const stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const onAbort = () => Atomics.store(stop, 0, 1);
    signal?.addEventListener('abort', onAbort);
    this.#worker.ref();
    try {
      return await new Promise<Results[JobKind]>((resolve, reject) => {
        this.#running.set(number, { content, stop, answers: new Set(), resolve, reject });
        this.#send({ job: number, begin: job, stop });
      });
    } catch (error) {
      if (error instanceof Error && error.name === jobStopped) signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#running.delete(number);
      if (this.#running.size === 0) this.#worker.unref();
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #take(message: FromThread): void {
    const job = this.#running.get(message.job);
    if (!job) return;
    if ('done' in message) job.resolve(message.done);
    else if ('failed' in message) job.reject(this.#errorOf(message.failed, job));
    else this.#answer(job, message);
  }

  #answer(job: Running, { job: number, ask, asks }: Extract<FromThread, { ask: number }>): void {
    const answer = answerTo(job.content, asks).then(
      () => this.#send({ job: number, ask, isDone: true }),
      (error: unknown) => {
        job.failure ??= { error };
        this.#send({ job: number, ask, isDone: false });
      },
    );
    const ended = answer.finally(() => job.answers.delete(ended));
    job.answers.add(ended);
  }

  #errorOf(sent: SentError, { failure }: Running): unknown {
    return sent.name === askFailed && failure ? failure.error : errorFrom(sent);
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}

async function answerTo(content: Partial<WorkspaceContent>, asks: Ask): Promise<void> {
  const { store, manifest, file } = content;
  if (asks.kind === 'store' && store) await store.call(content, asks.content);
  else if (asks.kind === 'file' && file) await file.call(content, asks.file, asks.path, asks.to);
  else if (asks.kind === 'manifest' && manifest) await manifest.call(content, asks.sha256, asks.to);
  else throw new Error(`This job may not ask for a ${asks.kind}.`);
}

function errorFrom({ name, message, code }: SentError): Error {
  if (name === 'WorkspaceTooLarge') return new WorkspaceTooLarge(message);
  if (name === 'JobTooLong') return new JobTooLong();
  if (name === 'WorkspaceUnreadable') return new WorkspaceUnreadable(message);
  if (name === 'SnapshotInvalid') return new SnapshotInvalid(message);
  return Object.assign(new Error(message), code === undefined ? { name } : { name, code });
}
