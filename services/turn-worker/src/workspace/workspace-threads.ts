import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import type { Content } from './read-file.js';
import {
  type Answers,
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
  type SentError,
  type ToThread,
  type WorkspacePlace,
} from './thread-messages.js';
import { WorkspaceTooLarge, WorkspaceUnreadable } from './workspace-errors.js';

/** How a job's requests are answered. */
export interface WorkspaceContent {
  store(content: Content): Promise<void>;
  manifest(sha256: string): Promise<Uint8Array>;
  /** Writes the content of `path` in the workspace to `to`. */
  file(file: Asks['file']['file'], path: string, to: string): Promise<void>;
}

/** The heap limit of a thread: a directory with millions of entries ends the thread, not the worker. */
const threadHeapMb = 768;
const mostThreads = 4;

interface Running {
  content: Partial<WorkspaceContent>;
  stop: Int32Array;
  resolve(result: Results[JobKind]): void;
  reject(error: unknown): void;
  /** Why the first request failed. */
  failure?: { error: unknown };
}

/** Threads that walk, hash and write workspaces, off the event loop. A workspace always has the same thread. */
export class WorkspaceThreads {
  readonly #threads = new Map<number, WorkspaceThread>();

  /** @param entry the compiled `workspace-thread.ts` */
  constructor(private readonly entry: URL) {}

  /**
   * Runs a job. Nobody uses the workspace any more when it resolves or rejects.
   *
   * @param content answers its requests
   * @throws what `signal` was aborted with; what `content` throws; WorkspaceTooLarge, SnapshotInvalid, or a system error
   */
  async run<Kind extends JobKind>(
    kind: Kind,
    place: WorkspacePlace,
    job: Jobs[Kind],
    content: Partial<WorkspaceContent> = {},
    signal?: AbortSignal,
  ): Promise<Results[Kind]> {
    signal?.throwIfAborted();
    const thread = this.#threadOf(place);
    return (await thread.run({ kind, place, ...job } as Job, content, signal)) as Results[Kind];
  }

  /** Ends the threads. No job may be running. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()));
  }

  #threadOf({ treeFile }: WorkspacePlace): WorkspaceThread {
    const count = Math.min(availableParallelism(), mostThreads);
    const number = createHash('sha256').update(treeFile).digest().readUInt32BE() % count;
    const thread = this.#threads.get(number) ?? new WorkspaceThread(this.entry, () => this.#threads.delete(number));
    this.#threads.set(number, thread);
    return thread;
  }
}

class WorkspaceThread {
  readonly #worker: Worker;
  readonly #running = new Map<number, Running>();
  #jobs = 0;

  constructor(entry: URL, onEnd: () => void) {
    this.#worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: threadHeapMb } });
    this.#worker.unref();
    let failure: unknown = new Error('The thread of a workspace ended.');
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => {
      failure = error;
    });
    this.#worker.on('exit', () => {
      onEnd();
      for (const job of this.#running.values()) job.reject(failure);
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
        this.#running.set(number, { content, stop, resolve, reject });
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
    answerTo(job.content, asks).then(
      (value) => this.#send({ job: number, ask, value }),
      (error: unknown) => {
        job.failure ??= { error };
        this.#send({ job: number, ask });
      },
    );
  }

  #errorOf(sent: SentError, { failure }: Running): unknown {
    return sent.name === askFailed && failure ? failure.error : errorFrom(sent);
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}

async function answerTo(content: Partial<WorkspaceContent>, asks: Ask): Promise<Answers[AskKind]> {
  const { store, manifest, file } = content;
  if (asks.kind === 'store' && store) await store.call(content, asks.content);
  else if (asks.kind === 'file' && file) await file.call(content, asks.file, asks.path, asks.to);
  else if (asks.kind === 'manifest' && manifest) return manifest.call(content, asks.sha256);
  else throw new Error(`This job may not ask for a ${asks.kind}.`);
  return null;
}

function errorFrom({ name, message, code }: SentError): Error {
  if (name === 'WorkspaceTooLarge') return new WorkspaceTooLarge(message);
  if (name === 'WorkspaceUnreadable') return new WorkspaceUnreadable(message);
  if (name === 'SnapshotInvalid') return new SnapshotInvalid(message);
  return Object.assign(new Error(message), code === undefined ? { name } : { name, code });
}
