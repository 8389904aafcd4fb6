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
 * that meets long ones is done by a thread, one after the other.
 */
export class Snapshots {
  #before: Promise<unknown> = Promise.resolve();

  /**
   * @param projectDir where the manifests are stored
   * @throws SnapshotInvalid where a manifest is missing, or is none, or describes more than a workspace may have
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
    const turn = this.#before.then(() => inThread(projectDir, job));
    this.#before = turn.catch(() => undefined);
    return (await turn) as SnapshotResults[Kind];
  }
}

async function inThread(projectDir: string, job: SnapshotJob): Promise<unknown> {
  const answer = await threadAnswer<ThreadAnswer>(threadEntry, { projectDir, job }, { maxOldGenerationSizeMb });
  if ('invalid' in answer) throw new SnapshotInvalid(answer.invalid);
  return answer.result;
}

/** Room for two workspaces' manifests at their longest. */
const maxOldGenerationSizeMb = 512;
