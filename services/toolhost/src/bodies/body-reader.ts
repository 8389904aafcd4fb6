import { Worker } from 'node:worker_threads';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxYoungGenerationSizeMb, memoryTurns, turnHeapMb } from '@suzumio/protocol/memory-turns';
import type { ChatPurpose, ChatRequest } from '@suzumio/protocol/model-chat';
import { isOutOfMemory } from '@suzumio/protocol/process-memory';
import type { BodySender } from './body-gate.js';
import type { FactsOf, ThreadAnswer, ThreadJob } from './body-thread.js';
import { type CallBody, parseCall } from './call.js';
import { parseQuestion, type Question } from './question.js';

/** Bodies up to this length are parsed in the main thread: that takes some milliseconds at most. */
const shortBytes = 65_536;

/** After a longer body its thread ends, and gives back what it has taken. */
const keptBytes = 1024 ** 2;

/** The longest body of any form has room in as much, also where a process has less than 512 MiB. */
const leastHeapMb = 128;

interface Job {
  task: ThreadJob;
  resolve(answer: Extract<ThreadAnswer, { ok: true }>): void;
  reject(error: unknown): void;
}

/**
 * Reads model calls and tool calls. Long ones are parsed, checked and hashed in one thread, so that no body delays
 * heartbeats and others' calls. Projects take turns, also with other work that takes much memory, and within a project
 * its attempts: the flood of one delays another by one body at most.
 */
export class BodyReader {
  /** Pending jobs by project and attempt, in the order in which its attempts have their turn. */
  readonly #waiting = new Map<string, Map<string, Job[]>>();
  #thread: Worker | undefined;
  #current: Job | undefined;
  #settled = (): void => undefined;
  #closed = false;

  /** @param thread the compiled `body-thread.ts` */
  constructor(private readonly thread: URL) {}

  /**
   * Reads a model call. `bytes` of a long one are transferred to the thread.
   *
   * @param over aborted when the client has disconnected
   * @throws SuzumioError `invalid-request`; `body-too-large` where it needs more memory than one may have; the reason
   *   of `over`
   */
  async question(
    of: BodySender,
    bytes: Uint8Array<ArrayBuffer>,
    purpose: ChatPurpose,
    over: AbortSignal,
  ): Promise<Question> {
    if (bytes.length <= shortBytes) return parseQuestion(bytes, purpose);
    const { facts, json } = await this.#inThread(of, { kind: 'question', bytes, purpose }, over);
    // The thread has validated it.
    return { ...facts, request: () => valueOf(json) as ChatRequest };
  }

  /**
   * Reads a tool call. `bytes` of a long one are transferred to the thread.
   *
   * @param over aborted when the client has disconnected
   * @throws SuzumioError `invalid-request`; the reason of `over`
   */
  async call(of: BodySender, bytes: Uint8Array<ArrayBuffer>, over: AbortSignal): Promise<CallBody> {
    if (bytes.length <= shortBytes) return parseCall(bytes);
    const { facts, json } = await this.#inThread(of, { kind: 'call', bytes }, over);
    return { ...facts, input: () => valueOf(json) };
  }

  async #inThread<Task extends ThreadJob>(
    of: BodySender,
    task: Task,
    over: AbortSignal,
  ): Promise<{ facts: FactsOf[Task['kind']]; json: Uint8Array }> {
    over.throwIfAborted();
    const { facts, json } = await new Promise<Extract<ThreadAnswer, { ok: true }>>((resolve, reject) => {
      const job: Job = { task, resolve, reject };
      over.addEventListener('abort', () => {
        // The room of its bytes is released, also where a thread reads it.
        job.reject(over.reason);
        this.#forget(of, job);
      });
      this.#add(of, job);
    });
    return { facts: facts as FactsOf[Task['kind']], json };
  }

  #add({ project, attempt }: BodySender, job: Job): void {
    const attempts = this.#waiting.get(project) ?? new Map<string, Job[]>();
    this.#waiting.set(project, attempts.set(attempt, [...(attempts.get(attempt) ?? []), job]));
    this.#queue(project);
  }

  /** Waits for a turn of the project, and holds no body meanwhile. */
  #queue(project: string): void {
    // Each job is told of its own failure.
    memoryTurns.take(project, () => this.#readNext(project)).catch(() => undefined);
  }

  /** Removes a job that waits. */
  #forget({ project, attempt }: BodySender, job: Job): void {
    const attempts = this.#waiting.get(project);
    const others = attempts?.get(attempt)?.filter((other) => other !== job) ?? [];
    if (others.length > 0) attempts?.set(attempt, others);
    else attempts?.delete(attempt);
    if (attempts?.size === 0) this.#waiting.delete(project);
  }

  /** Ends the thread. Pending and running jobs are aborted. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.terminate();
    for (const project of this.#waiting.keys()) {
      for (let job = this.#take(project); job; job = this.#take(project)) job.reject(stopping());
    }
  }

  /** Reads the project's next job, if its sender has not left. */
  async #readNext(project: string): Promise<void> {
    const job = this.#take(project);
    if (!job) return;
    try {
      await this.#read(job);
    } catch (error) {
      job.reject(error);
    }
  }

  /** Takes a project's next job. Its attempt moves to the end of the project's. */
  #take(project: string): Job | undefined {
    const attempts = this.#waiting.get(project);
    const [attempt, jobs] = attempts?.entries().next().value ?? [];
    if (!attempts || attempt === undefined || !jobs) return undefined;
    const [job, ...others] = jobs;
    attempts.delete(attempt);
    if (others.length > 0) attempts.set(attempt, others);
    if (attempts.size === 0) this.#waiting.delete(project);
    return job;
  }

  async #read(job: Job): Promise<void> {
    if (this.#closed) throw stopping();
    const thread = (this.#thread ??= this.#started());
    const { task } = job;
    const isKept = task.bytes.length <= keptBytes;
    await new Promise<void>((resolve) => {
      this.#current = job;
      this.#settled = resolve;
      thread.postMessage(task, [task.bytes.buffer]);
    });
    if (!isKept) await thread.terminate();
  }

  #started(): Worker {
    const maxOldGenerationSizeMb = Math.max(leastHeapMb, turnHeapMb());
    const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb };
    const worker = new Worker(this.thread, { resourceLimits });
    let failure: unknown;
    worker.unref();
    worker.on('message', (answer: ThreadAnswer) => {
      this.#settle((job) => {
        if (answer.ok) job.resolve(answer);
        else job.reject(new SuzumioError(answer.code, answer.message, answer.details));
      });
    });
    worker.on('error', (error) => {
      failure = isOutOfMemory(error)
        ? new SuzumioError('body-too-large', 'Reading this body takes more memory than one may have.')
        : error;
    });
    worker.on('exit', () => {
      this.#thread = undefined;
      this.#settle((job) => job.reject(failure ?? stopping()));
    });
    return worker;
  }

  #settle(end: (job: Job) => void): void {
    const job = this.#current;
    this.#current = undefined;
    if (job) end(job);
    this.#settled();
  }
}

function stopping(): SuzumioError {
  return new SuzumioError('server-unreachable', 'This ToolHost is stopping.');
}

function valueOf(json: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(json));
}
