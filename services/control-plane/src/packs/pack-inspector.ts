import { Worker } from 'node:worker_threads';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import { inParts } from './inspect-pack.js';
import type { ThreadAnswer } from './pack-thread.js';

/** The compiled entry of the thread: beside this file, unless this one runs from source. */
const threadEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/packs/pack-thread.js' : './pack-thread.js',
  import.meta.url,
);

/** The longest time that one pack may take, in milliseconds. */
const longestMs = 120_000;

/**
 * Inspects packs, which agents make and people: in a thread, one after the other, and one of each attempt. Projects take turns, so
 * that one with many packs keeps another waiting for one of them.
 */
export class PackInspector {
  readonly #attempts = new Set<string>();
  readonly #turns = new ProjectTurns();
  readonly #stop = new AbortController();

  constructor(private readonly thread = threadEntry) {}

  /**
   * @param path the stored pack
   * @param attempt of an agent's turn; undefined where a person pushes
   * @returns how many objects it has
   * @throws SuzumioError `git-pack-invalid`; `attempt-busy` while another pack of the attempt is inspected
   */
  async inspect(project: string, path: string, attempt?: string): Promise<number> {
    if (attempt === undefined) return this.#inspect(project, path);
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
      return await this.#inspect(project, path);
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  /** Ends the thread; what is inspected is aborted. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#turns.idle();
  }

  async #inspect(project: string, path: string): Promise<number> {
    const answer = await this.#turns.take(project, () => this.#inThread(path));
    if ('objects' in answer) return answer.objects;
    throw new SuzumioError('git-pack-invalid', `The pack ${answer.invalid}.`);
  }

  async #inThread(path: string): Promise<ThreadAnswer> {
    const stopping = () => new SuzumioError('server-unreachable', 'This service is stopping.');
    if (this.#stop.signal.aborted) throw stopping();
    const thread = new Worker(this.thread, { workerData: { path }, resourceLimits: packMemory });
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
export const packMemory = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
