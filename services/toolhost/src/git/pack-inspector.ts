import { Worker } from 'node:worker_threads';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ThreadAnswer } from './pack-thread.js';

/** The longest time that one pack may take, in milliseconds. */
const longestMs = 120_000;

/** Inspects packs, which agents make: in a thread, one after the other, and one of each attempt. */
export class PackInspector {
  readonly #attempts = new Set<string>();
  readonly #stop = new AbortController();
  #before: Promise<unknown> = Promise.resolve();

  /** @param thread the thread's compiled entry */
  constructor(private readonly thread: URL) {}

  /**
   * @param path the stored pack
   * @returns how many objects it has
   * @throws SuzumioError `git-pack-invalid`; `attempt-busy` while another pack of the attempt is inspected
   */
  async inspect(attempt: string, path: string): Promise<number> {
    if (this.#attempts.has(attempt)) {
      throw new SuzumioError(
        'attempt-busy',
        'Another push of this attempt is under way; push again when it has ended.',
        {
          retryAfterSeconds: 1,
        },
      );
    }
    this.#attempts.add(attempt);
    const inspecting = this.#before.then(() => this.#inThread(path));
    this.#before = inspecting.catch(() => undefined);
    try {
      const answer = await inspecting;
      if ('objects' in answer) return answer.objects;
      throw new SuzumioError('git-pack-invalid', `The pack ${answer.invalid}.`);
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  /** Ends the thread; what is inspected is aborted. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#before;
  }

  async #inThread(path: string): Promise<ThreadAnswer> {
    const stopping = () => new SuzumioError('server-unreachable', 'This ToolHost is stopping.');
    if (this.#stop.signal.aborted) throw stopping();
    const thread = new Worker(this.thread, { workerData: { path }, resourceLimits: { maxOldGenerationSizeMb } });
    const end = () => {
      thread.terminate().catch(() => undefined);
    };
    const tooLong = setTimeout(end, longestMs);
    this.#stop.signal.addEventListener('abort', end);
    try {
      return await new Promise<ThreadAnswer>((resolve, reject) => {
        thread.once('message', resolve);
        thread.once('error', reject);
        thread.once('exit', () => {
          if (this.#stop.signal.aborted) reject(stopping());
          else resolve({ invalid: `takes longer than ${String(longestMs / 1000)} s to read` });
        });
      });
    } finally {
      clearTimeout(tooLong);
      this.#stop.signal.removeEventListener('abort', end);
      end();
    }
  }
}

/** Room for the places of all objects; the bytes themselves are outside of it. */
const maxOldGenerationSizeMb = 256;
