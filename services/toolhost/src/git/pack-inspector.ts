import { Worker } from 'node:worker_threads';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { inParts } from './inspect-pack.js';
import { ProjectTurns } from '../project-turns.js';
import type { ThreadAnswer } from './pack-thread.js';

/** The longest time that one pack may take, in milliseconds. */
const longestMs = 120_000;

/**
 * Inspects packs, which agents make: in a thread, one after the other, and one of each attempt. Projects take turns, so that one
 * with many packs keeps another waiting for one of them.
 */
export class PackInspector {
  readonly #attempts = new Set<string>();
  readonly #turns = new ProjectTurns();
  readonly #stop = new AbortController();

  /** @param thread the thread's compiled entry */
  constructor(private readonly thread: URL) {}

  /**
   * @param path the stored pack
   * @returns how many objects it has
   * @throws SuzumioError `git-pack-invalid`; `attempt-busy` while another pack of the attempt is inspected
   */
  async inspect(project: string, attempt: string, path: string): Promise<number> {
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
    try {
      const answer = await this.#turns.take(project, () => this.#inThread(path));
      if ('objects' in answer) return answer.objects;
      throw new SuzumioError('git-pack-invalid', `The pack ${answer.invalid}.`);
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  /** Ends the thread; what is inspected is aborted. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#turns.idle();
  }

  async #inThread(path: string): Promise<ThreadAnswer> {
    const stopping = () => new SuzumioError('server-unreachable', 'This ToolHost is stopping.');
    if (this.#stop.signal.aborted) throw stopping();
    const thread = new Worker(this.thread, { workerData: { path }, resourceLimits });
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
          else resolve({ invalid: `takes longer than ${String(longestMs / 1000)} s to read: ${inParts}` });
        });
      });
    } finally {
      clearTimeout(tooLong);
      this.#stop.signal.removeEventListener('abort', end);
      end();
    }
  }
}

/** Room for the places of as many objects as a pack may have, with a margin, and little for what is no longer needed. */
const resourceLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
