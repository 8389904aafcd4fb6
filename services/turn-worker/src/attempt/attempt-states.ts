import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { attemptRef } from '@suzumio/protocol/attempts';
import { writeFileAtomically } from '../files/write-file-atomically.js';

/** A worker's record of an attempt, written before and while it runs. */
const attemptState = z.object({
  claimId: z.string().regex(/^[0-9a-f]{32}$/),
  cell: z.string(),
  project: z.string(),
  turn: z.string(),
  /** Present once the claim was granted: the attempt, and the token to report it with. */
  granted: z.exactOptional(z.object({ ref: attemptRef, leaseToken: z.string() })),
  /** Present once a sandbox runs. */
  sandbox: z.exactOptional(z.object({ engine: z.string(), id: z.string() })),
});
export type AttemptState = z.infer<typeof attemptState>;

const suffix = '.json';

/**
 * One file per attempt, outside of every mount and readable by the worker alone. A claim is recorded before it is made,
 * so that every granted claim has a record here.
 */
export class AttemptStates {
  readonly #directory: string;

  private constructor(workerDir: string) {
    this.#directory = join(workerDir, 'attempts');
  }

  static async open(workerDir: string): Promise<AttemptStates> {
    const states = new AttemptStates(workerDir);
    await mkdir(states.#directory, { recursive: true, mode: 0o700 });
    return states;
  }

  /** The records of this worker's previous process. Unreadable ones are removed. */
  async left(): Promise<AttemptState[]> {
    const left: AttemptState[] = [];
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name);
      const state = name.endsWith(suffix) ? parse(await readFile(path, 'utf8')) : undefined;
      if (state && name === `${state.claimId}${suffix}`) left.push(state);
      else await rm(path, { recursive: true, force: true });
    }
    return left;
  }

  async write(state: AttemptState): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeFileAtomically(this.#path(state.claimId), JSON.stringify(state));
  }

  async remove(claimId: string): Promise<void> {
    await rm(this.#path(claimId), { force: true });
  }

  #path(claimId: string): string {
    return join(this.#directory, `${claimId}${suffix}`);
  }
}

function parse(text: string): AttemptState | undefined {
  try {
    return attemptState.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
