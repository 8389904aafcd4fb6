import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttemptRef } from '@suzumio/shared/protocol/attempts';
import { removeTree } from '../files/remove-tree.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';

/** What a worker knows of an attempt before and while it runs. */
export interface AttemptState {
  claimId: string;
  cell: string;
  project: string;
  turn: string;
  /** Present once the claim was granted. */
  ref?: AttemptRef;
  /** Present once something runs. */
  sandbox?: { engine: string; id: string };
}

/**
 * One file per attempt, outside of every mount and for nobody else to read: a claim is written down before it is made,
 * so that nothing that the ToolHost granted is ever without a trace here.
 */
export class AttemptStates {
  readonly #directory: string;

  constructor(workerDir: string) {
    this.#directory = join(workerDir, 'attempts');
  }

  /** Begins without any: what a former process of this worker claimed runs out by its lease. */
  async clear(): Promise<void> {
    await removeTree(this.#directory);
    await mkdir(this.#directory, { mode: 0o700 });
  }

  async write(state: AttemptState): Promise<void> {
    await writeFileAtomically(this.#path(state.claimId), JSON.stringify(state));
  }

  async remove(claimId: string): Promise<void> {
    await rm(this.#path(claimId), { force: true });
  }

  #path(claimId: string): string {
    return join(this.#directory, `${claimId}.json`);
  }
}
