import { basename } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxYoungGenerationSizeMb, memoryTurns, turnHeapMb } from '@suzumio/protocol/memory-turns';
import { isOutOfMemory } from '@suzumio/protocol/process-memory';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '../content/content-store.js';
import { storedManifest, TooLong } from '../content/stored-snapshot.js';
import { threadAnswer } from '../thread-answer.js';
import { carryOut, type SnapshotJob, type SnapshotJobs, type SnapshotResults } from './snapshot-job.js';

/** The thread's compiled entry: beside this file, but where this one runs from its source. */
const threadEntry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/workspaces/snapshot-thread.js' : './snapshot-thread.js',
  import.meta.url,
);

/** How many bytes of manifests one job may parse in this thread: some milliseconds. */
const hereBytes = 256 * 1024;

/** What the thread answers. */
export type ThreadAnswer = { result: SnapshotResults[keyof SnapshotResults] } | { invalid: string };

/**
 * Reads the manifests of snapshots, which agents may make as long as a workspace allows. Most are short and are read here; a job
 * that meets long ones is done by a thread, one after the other. Projects take turns, also with other work that takes much memory.
 */
export class Snapshots {
  readonly #asked = new Map<string, Promise<unknown>>();
  readonly #heapMb: number;

  /**
   * @param memoryBytes what this process may use: of the 512 MiB that Compose gives, two workspaces with the longest names and links
   *   that a capture takes need less than a thread has
   */
  constructor(memoryBytes?: number) {
    this.#heapMb = turnHeapMb(memoryBytes);
  }

  /**
   * @param projectDir where the manifests are stored
   * @throws SnapshotInvalid where a manifest is missing, or is none, or describes more than a workspace may have; SuzumioError
   *   `workspace-too-large` where this takes more memory than a thread has here
   */
  async read<Kind extends keyof SnapshotJobs>(
    projectDir: string,
    kind: Kind,
    asked: SnapshotJobs[Kind],
  ): Promise<SnapshotResults[Kind]> {
    const job = { kind, ...asked } as SnapshotJob;
    const content = new ContentStore(projectDir);
    let left = hereBytes;
    const read = (sha256: string) =>
      storedManifest(content, sha256, (sizeBytes) => {
        left -= sizeBytes;
        if (left < 0) throw new TooLong();
      });
    try {
      return (await carryOut(job, read)) as SnapshotResults[Kind];
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
    }
    return (await this.#once(projectDir, job)) as SnapshotResults[Kind];
  }

  /** What is asked again while it is done, as by a request that was repeated, has the same answer. */
  #once(projectDir: string, job: SnapshotJob): Promise<unknown> {
    const key = JSON.stringify([projectDir, job]);
    const same = this.#asked.get(key);
    if (same) return same;
    const asked = memoryTurns
      .take(basename(projectDir), () => this.#inThread(projectDir, job))
      .finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  async #inThread(projectDir: string, job: SnapshotJob): Promise<unknown> {
    const memory = { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb };
    try {
      const answer = await threadAnswer<ThreadAnswer>(threadEntry, { projectDir, job }, memory);
      if ('invalid' in answer) throw new SnapshotInvalid(answer.invalid);
      return answer.result;
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      throw new SuzumioError(
        'workspace-too-large',
        `What the workspace has of names and links takes more than the ${String(this.#heapMb)} MiB of memory that this service has to ` +
          'read them: have fewer files or shorter names and links in it, or give the service more memory.',
        { heapMb: this.#heapMb },
        { cause: error },
      );
    }
  }
}
