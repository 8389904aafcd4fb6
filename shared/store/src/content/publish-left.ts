import { maxLeftOutNameLength, maxUnpublishedNames, type UnpublishedArtifacts } from '@suzumio/protocol/attempts';
import { beginningOf } from '@suzumio/protocol/cut-text';
import type { TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { type NewArtifact, publishArtifact } from './publish-artifact.js';

/** What a turn has changed in its agent's own directory of artifacts, ready to be published. */
export interface LeftArtifacts {
  /** The snapshot that has it; undefined where it is to be looked at again after the next turn. */
  snapshot: string | null | undefined;
  artifacts: readonly Omit<NewArtifact, 'creator' | 'turn'>[];
  unpublished: Unpublished;
}

/** Counts what is not published, and names the first. */
export class Unpublished {
  #count = 0;
  readonly #items: UnpublishedArtifacts['items'] = [];

  add(name: string, why: string): void {
    this.#count += 1;
    if (this.#items.length >= maxUnpublishedNames) return;
    this.#items.push({ name: beginningOf(name, maxLeftOutNameLength), why: beginningOf(why, 500) });
  }

  /** Undefined where all is published. */
  get all(): UnpublishedArtifacts | undefined {
    return this.#count === 0 ? undefined : { count: this.#count, items: this.#items };
  }
}

/**
 * Publishes what a turn has left in its agent's own directory of artifacts, but for what is published already.
 *
 * @returns what was not published
 */
export function publishLeft(
  tx: Tx,
  { id, agent_id: creator }: Pick<TurnRow, 'id' | 'agent_id'>,
  { snapshot, artifacts, unpublished }: LeftArtifacts,
): UnpublishedArtifacts | undefined {
  for (const artifact of artifacts) {
    const { name, sha256 } = artifact;
    const newest = tx.get<{ sha256: string }>(
      'SELECT sha256 FROM artifacts WHERE creator = :creator AND name = :name ORDER BY seq DESC LIMIT 1',
      { creator, name },
    );
    if (newest?.sha256 === sha256) continue;
    // Nobody means to publish it again: it lies there still, under another name or from before.
    const redacted = tx.get('SELECT 1 FROM artifacts WHERE sha256 = :sha256 AND redacted_json IS NOT NULL LIMIT 1', {
      sha256,
    });
    if (redacted) unpublished.add(name, 'what was published with this content was redacted');
    else publishArtifact(tx, { ...artifact, creator, turn: id });
  }
  if (snapshot !== undefined) {
    tx.run('UPDATE agents SET published_snapshot = :snapshot WHERE id = :creator', { snapshot, creator });
  }
  return unpublished.all;
}
